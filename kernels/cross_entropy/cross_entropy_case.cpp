// Kernel case of cross entropy.
#include "kernels/cross_entropy/cross_entropy_case.h"

#include "kernels/cross_entropy/cross_entropy_ops.h"
#include "kernels/kernel_case.h"

namespace headroom::kernels {

namespace {

constexpr Shape kOddCrossEntropyShapes[] = {{1, 2},     {9, 7},     {5, 8},      {64, 1000},  {7, 1001},     {3, 8193},
                                            {3, 40001}, {3, 70000}, {2, 128257}, {2, 262143}, {1, 1'000'003}};

void add_operator(KernelForms& all, const char* variant, at::Tensor (*loss)(const at::Tensor&, const at::Tensor&),
                  const KernelInputs& in) {
  const at::Tensor logits_NV = in.inputs[0], targets_N = in.inputs[1];
  all.add(variant, "forward", [=] { return Tensors{loss(logits_NV, targets_N)}; });
  all.add(variant, "full", [=, x = leaf(logits_NV)] {
    const at::Tensor value = loss(x, targets_N);
    return with_gradients({value}, {x}, {at::ones_like(value)});
  });
}

KernelForms cross_entropy_forms(const Shape& shape, const KernelInputs& in) {
  const at::Tensor logits_NV = in.inputs[0], targets_N = in.inputs[1];
  KernelForms all;
  all.graphs = false;
  // The loss alone needs one read.
  all.work = [shape, type = logits_NV.scalar_type()](const std::string& pass) {
    const PassWork both = work_of(*find_kernel("cross_entropy"), shape, "full", type);
    return pass == "forward" ? PassWork{both.bytes / 2, both.flops / 2} : both;
  };
  add_operator(all, "eager", &eager_cross_entropy, in);
  add_operator(
      all, "library", [](const at::Tensor& x, const at::Tensor& targets) { return at::cross_entropy_loss(x, targets); },
      in);
  const CrossEntropyOptions options{
      .in_place = true, .valid_count = shape.rows, .error_flag = no_error(logits_NV.device())};
  all.add("fused", "forward", [=] { return Tensors{cross_entropy_forward_only(logits_NV, targets_N, options).loss}; });
  // The gradient overwrites `own`, a copy of the logits; the next call takes it for logits.
  all.add("fused", "full", [=, own = logits_NV.clone()] {
    const CrossEntropyOut out = cross_entropy_forward(own, targets_N, options);
    return Tensors{out.loss, out.dlogits};
  });
  all.exact = [=](const std::string& pass) {
    const CrossEntropyReference exact = cross_entropy_reference(logits_NV, targets_N);
    return pass == "forward" ? Tensors{exact.loss} : Tensors{exact.loss, exact.dlogits};
  };
  return all;
}

}  // namespace

extern const KernelCase kCrossEntropyCase;
constinit const KernelCase kCrossEntropyCase = {
    .id = "cross_entropy",
    .inputs = [](const Shape& shape, const TensorMaker& make) -> KernelInputs {
      const at::Tensor logits_NV = make.random({shape.rows, shape.width});
      return {.inputs = {logits_NV, make.ids(shape.rows, shape.width)}};
    },
    .forms = &cross_entropy_forms,
    .odd_shapes = kOddCrossEntropyShapes,
};

}  // namespace headroom::kernels
