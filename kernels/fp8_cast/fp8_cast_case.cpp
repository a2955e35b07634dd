// Kernel case of the cast to e4m3.
#include "kernels/fp8_cast/fp8_cast_ops.h"
#include "kernels/kernel_case.h"

namespace headroom::kernels {

namespace {

constexpr Fp8Format kFormat = Fp8Format::kE4m3;
constexpr Shape kOddFp8CastShapes[] = {{16, 16}, {16, 4096}, {48, 208}, {144, 64}, {1040, 32}};

KernelForms fp8_cast_forms(const Shape&, const KernelInputs& in) {
  const at::Tensor x = in.inputs[0];
  const at::Tensor scaling = fp8_scalings(1, x.options())[0];
  fp8_measure_(x, scaling, kFormat, /*keeps=*/false, at::zeros({1}, x.options().dtype(at::kInt)));
  KernelForms all;
  all.add("eager", "forward", [=] {
    const at::Tensor codes = (x.to(at::kFloat) * scaling[kFp8Scale]).to(type_of(kFormat));
    return Tensors{codes, codes.t().contiguous()};
  });
  all.add("fused", "forward", [=] {
    const Fp8Codes codes = fp8_cast(x, scaling, kFormat, {.rows = true, .transposed = true});
    return Tensors{codes.rows, codes.transposed};
  });
  all.exact = [=](const std::string&) {
    const at::Tensor scaled = x.to(at::kDouble) * scaling[kFp8Scale].to(at::kDouble);
    return Tensors{scaled, scaled.t()};
  };
  return all;
}

}  // namespace

extern const KernelCase kFp8CastCase;
constinit const KernelCase kFp8CastCase = {
    .id = "fp8_cast",
    .inputs = [](const Shape& shape, const TensorMaker& make) -> KernelInputs {
      return {.inputs = {make.random({shape.rows, shape.width})}};
    },
    .forms = &fp8_cast_forms,
    .odd_shapes = kOddFp8CastShapes,
    .takes_any_address = false,
};

}  // namespace headroom::kernels
