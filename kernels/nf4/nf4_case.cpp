// Kernel case of NF4.
#include <iterator>
#include <vector>

#include "kernels/adamw_8bit/adamw_8bit_ops.h"
#include "kernels/kernel_case.h"
#include "kernels/nf4/nf4_ops.h"

namespace headroom::kernels {

namespace {

constexpr Shape kOddNf4Shapes[] = {{1, 1}, {1, 7}, {1, 63}, {1, 65}, {1, 1001}, {1, 16'385}, {1, 100'003}};

// Computes in the type `in`; the result has `type`.
at::Tensor composed_nf4(const Nf4Matrix& matrix, std::int64_t n, at::ScalarType type, at::ScalarType in) {
  const at::TensorOptions options = matrix.absmax_scale.options().dtype(in);
  const std::vector<double> published(std::begin(kNf4Levels), std::end(kNf4Levels));
  const at::Tensor levels = at::tensor(published, at::kDouble).to(options);
  const at::Tensor map = dynamic_map_reference(/*is_signed=*/true).to(options);
  const at::Tensor scale = matrix.absmax_scale.to(in).repeat_interleave(kNf4ScaleBlock);
  const std::int64_t blocks = matrix.absmax_codes.numel();
  const at::Tensor deviation = map.index_select(0, matrix.absmax_codes.to(at::kInt)) * scale.narrow(0, 0, blocks);
  const at::Tensor absmax = (matrix.absmax_mean.to(in) + deviation).repeat_interleave(kNf4Block);
  const at::Tensor pairs = at::stack({matrix.codes.bitwise_right_shift(4), matrix.codes.bitwise_and(15)}, 1);
  const at::Tensor codes = pairs.flatten().narrow(0, 0, n).to(at::kInt);
  return (levels.index_select(0, codes) * absmax.narrow(0, 0, n)).to(type);
}

KernelForms nf4_forms(const Shape& shape, const KernelInputs& in) {
  const at::ScalarType type = in.inputs[0].scalar_type();
  const std::int64_t n = shape.width;
  const Nf4Matrix matrix = nf4_quantise(in.inputs[0]);
  KernelForms all;
  all.add("eager", "forward", [=] { return Tensors{composed_nf4(matrix, n, type, at::kFloat)}; });
  all.add("fused", "forward", [=] { return Tensors{nf4_dequantise(matrix, type)}; });
  all.exact = [=](const std::string&) { return Tensors{composed_nf4(matrix, n, at::kDouble, at::kDouble)}; };
  return all;
}

}  // namespace

extern const KernelCase kNf4Case;
constinit const KernelCase kNf4Case = {
    .id = "nf4",
    .inputs = [](const Shape& shape, const TensorMaker& make) -> KernelInputs {
      return {.inputs = {make.random({shape.width}, 0.02)}};
    },
    .forms = &nf4_forms,
    .odd_shapes = kOddNf4Shapes,
};

}  // namespace headroom::kernels
