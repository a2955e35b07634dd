// Kernel case of the gradient check.
#include <limits>

#include "kernels/gradient_check/gradient_check_ops.h"
#include "kernels/kernel_case.h"

namespace headroom::kernels {

namespace {

constexpr Shape kOddGradientCheckShapes[] = {{1, 1}, {1, 7}, {1, 8}, {1, 255}, {1, 4096}, {1, 100'003}};

KernelInputs gradient_check_inputs(const Shape& shape, const TensorMaker& make) {
  const at::Tensor good = make.random({shape.width}), bad = make.random({shape.width});
  bad.narrow(0, shape.width - 1, 1).fill_(std::numeric_limits<double>::infinity());
  return {.inputs = {good, bad}};
}

Tensors flags(const Tensors& gradients) {
  Tensors found;
  for (const at::Tensor& gradient : gradients)
    found.push_back(at::isfinite(gradient).all().logical_not().to(at::kInt).view({1}));
  return found;
}

KernelForms gradient_check_forms(const Shape&, const KernelInputs& in) {
  KernelForms all;
  all.add("eager", "forward", [gradients = in.inputs] { return flags(gradients); });
  all.add("fused", "forward", [gradients = in.inputs] {
    Tensors found;
    for (const at::Tensor& gradient : gradients) {
      const at::Tensor& flag = found.emplace_back(at::zeros({1}, gradient.options().dtype(at::kInt)));
      check_finite_({&gradient, 1}, flag);
    }
    return found;
  });
  all.exact = [gradients = in.inputs](const std::string&) { return flags(gradients); };
  return all;
}

}  // namespace

extern const KernelCase kGradientCheckCase;
constinit const KernelCase kGradientCheckCase = {
    .id = "gradient_check",
    .inputs = &gradient_check_inputs,
    .forms = &gradient_check_forms,
    .odd_shapes = kOddGradientCheckShapes,
};

}  // namespace headroom::kernels
