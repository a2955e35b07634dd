// Kernel case of AdamW: the first step of a weight.
#include "kernels/adamw/adamw_case.h"

#include <cmath>
#include <span>

namespace headroom::kernels {

namespace {

struct State {
  at::Tensor param, m, v;
};

KernelForms adamw_forms(const Shape&, const KernelInputs& in) {
  using namespace adamw_case;
  const at::Tensor start = in.inputs[0], gradient = in.inputs[1];
  const auto fresh = [=] { return State{start.clone(), at::zeros_like(start), at::zeros_like(start)}; };
  KernelForms all;
  all.graphs = false;
  all.add("eager", "forward", [gradient, s = fresh()] {
    s.param.mul_(1 - kRate * kDecay);
    s.m.lerp_(gradient, 1 - kBeta1);
    s.v.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
    const at::Tensor root = (s.v.sqrt() / std::sqrt(kCorrection2)).add_(kEpsilon);
    s.param.addcdiv_(s.m, root, -kRate / kCorrection1);
    return Tensors{s.param};
  });
  all.add("library", "forward", [gradient, s = fresh()] {
    const at::Tensor steps = at::ones({}, s.param.options().dtype(at::kFloat));
    at::_fused_adamw_({s.param}, {gradient}, {s.m}, {s.v}, {}, {steps}, kRate, kBeta1, kBeta2, kDecay, kEpsilon,
                      /*amsgrad=*/false, /*maximize=*/false);
    return Tensors{s.param};
  });
  all.add("fused", "forward", [gradient, s = fresh()] {
    const AdamWParameter parameter{.param = s.param, .gradient = gradient, .first_moment = s.m, .second_moment = s.v};
    adamw(std::span(&parameter, 1), first_step());
    return Tensors{s.param};
  });
  all.exact = [start, gradient](const std::string&) {
    const at::Tensor zero = at::zeros_like(start);
    return Tensors{adamw_reference(start, gradient, zero, zero, kRate, kBeta1, kBeta2, kEpsilon, kDecay, 1).param};
  };
  return all;
}

}  // namespace

extern const KernelCase kAdamwCase;
constinit const KernelCase kAdamwCase = {
    .id = "adamw",
    .inputs = &adamw_case::inputs,
    .forms = &adamw_forms,
    .odd_shapes = adamw_case::kOddShapes,
    .takes_fp16 = false,  // fp16 moments underflow
};

}  // namespace headroom::kernels
