// Kernel case of the embedding gradient.
#include "kernels/embedding_backward/embedding_backward_ops.h"
#include "kernels/kernel_case.h"

namespace headroom::kernels {

namespace {

constexpr Shape kOddEmbeddingBackwardShapes[] = {{1, 1, 1},      {7, 5, 100},     {300, 64, 1},
                                                 {1000, 40, 97}, {3000, 2056, 7}, {5000, 33, 300},
                                                 {65, 16, 4},    {1025, 16, 4},   {4096, 128, 30'000}};

KernelForms embedding_backward_forms(const Shape& shape, const KernelInputs& in) {
  const at::Tensor dy_NH = in.inputs[0], ids_N = in.inputs[1];
  const std::int64_t V = shape.vocab, H = shape.width;
  KernelForms all;
  all.graphs = false;
  all.add("eager", "backward", [=] { return Tensors{at::zeros({V, H}, dy_NH.options()).index_add_(0, ids_N, dy_NH)}; });
  all.add("library", "backward", [=] { return Tensors{at::embedding_dense_backward(dy_NH, ids_N, V, -1, false)}; });
  all.add("fused", "backward", [=] {
    const at::Tensor dweight = at::empty({V, H}, dy_NH.options());
    embedding_backward(dy_NH, ids_N, dweight, /*accumulate=*/false);
    return Tensors{dweight};
  });
  all.exact = [=](const std::string&) { return Tensors{embedding_backward_reference(dy_NH, ids_N, V)}; };
  return all;
}

}  // namespace

extern const KernelCase kEmbeddingBackwardCase;
constinit const KernelCase kEmbeddingBackwardCase = {
    .id = "embedding_backward",
    .inputs = [](const Shape& shape, const TensorMaker& make) -> KernelInputs {
      const at::Tensor dy_NH = make.random({shape.rows, shape.width});
      return {.inputs = {dy_NH, make.ids(shape.rows, shape.vocab)}};
    },
    .forms = &embedding_backward_forms,
    .odd_shapes = kOddEmbeddingBackwardShapes,
    .rounded_by_chance = true,
};

}  // namespace headroom::kernels
