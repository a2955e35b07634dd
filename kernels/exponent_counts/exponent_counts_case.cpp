// Kernel case of counting by exponent.
#include "kernels/exponent_counts/exponent_counts_ops.h"
#include "kernels/kernel_case.h"

namespace headroom::kernels {

namespace {

constexpr Shape kOddExponentCountsShapes[] = {{1, 1}, {1, 7}, {1, 8}, {1, 255}, {1, 1025}, {1, 100'003}};

// frexp() gives |x| = f · 2^e with f in [½, 1). The bin is e + 126, since bin 0 is that of 2^−127.
at::Tensor composed(const at::Tensor& x, at::ScalarType type) {
  const at::Tensor exponents = std::get<1>(at::frexp(x.to(type))).to(at::kLong) + 126;
  const at::Tensor bins = at::where(x.eq(0), at::full_like(exponents, kZeroBin), exponents.clamp_min(0));
  return at::bincount(bins, {}, kExponentBins);
}

KernelForms exponent_counts_forms(const Shape&, const KernelInputs& in) {
  const at::Tensor x = in.inputs[0];
  KernelForms all;
  all.add("eager", "forward", [x] { return Tensors{composed(x, at::kFloat)}; });
  all.add("fused", "forward", [x] {
    const at::Tensor counts = at::zeros({kExponentBins}, x.options().dtype(at::kLong));
    count_exponents_(counts, x);
    return Tensors{counts};
  });
  all.exact = [x](const std::string&) { return Tensors{composed(x, at::kDouble)}; };
  return all;
}

}  // namespace

extern const KernelCase kExponentCountsCase;
constinit const KernelCase kExponentCountsCase = {
    .id = "exponent_counts",
    .inputs = [](const Shape& shape, const TensorMaker& make) -> KernelInputs {
      return {.inputs = {make.random({shape.width}, 1e-3)}};
    },
    .forms = &exponent_counts_forms,
    .odd_shapes = kOddExponentCountsShapes,
};

}  // namespace headroom::kernels
