#include "tests/kernels/optimizer/adamw_tensors.h"

#include <cmath>
#include <span>

#include "tests/kernels/kernel_checks.h"

namespace headroom::tests {

namespace {

at::Tensor at_offset(const at::Tensor& tensor, std::int64_t offset, at::Device device) {
  const at::Tensor storage = at::empty({tensor.numel() + offset}, tensor.options().device(device));
  const at::Tensor place = storage.narrow(0, offset, tensor.numel());
  place.copy_(tensor);
  return place;
}

}  // namespace

kernels::AdamWParameter adamw_tensors(std::int64_t n, std::int64_t offset, const AdamWTypes& types, at::Device device) {
  at::manual_seed(1);
  const auto random = [&](double scale, at::ScalarType type) {
    const at::Tensor values = at::randn({n + offset}, at::kDouble) * scale;
    return values.to(type).to(device).narrow(0, offset, n);
  };
  return {.param = random(1, types.param),
          .gradient = random(1e-2, types.gradient),
          .first_moment = random(1e-3, types.moment),
          .second_moment = random(1e-2, types.moment).square_()};
}

kernels::AdamWParameter adamw_copy_tensors(std::int64_t n, std::int64_t offset, const AdamWTypes& types,
                                           at::Device device) {
  kernels::AdamWParameter tensors = adamw_tensors(n, offset, {at::kFloat, types.gradient, types.moment}, device);
  tensors.working = at::empty({n + offset}, tensors.param.options().dtype(types.param)).narrow(0, offset, n);
  tensors.working.copy_(tensors.param);
  return tensors;
}

kernels::AdamWStep adamw_constants(std::int64_t t) {
  return kernels::adamw_step_constants(kLearningRate, kBeta1, kBeta2, kEpsilon, kWeightDecay, t);
}

kernels::AdamWParameter on_device(const kernels::AdamWParameter& tensors, at::Device device) {
  kernels::AdamWParameter moved = tensors;
  for (at::Tensor* t : {&moved.param, &moved.gradient, &moved.first_moment, &moved.second_moment, &moved.working}) {
    if (t->defined()) *t = t->to(device).clone();
  }
  return moved;
}

bool same_bits(const kernels::AdamWParameter& a, const kernels::AdamWParameter& b) {
  const auto same = [](const at::Tensor& x, const at::Tensor& y) {
    if (!x.defined()) return !y.defined();
    return same_bits(x.to(at::kCPU), y.to(at::kCPU));
  };
  return same(a.param, b.param) && same(a.first_moment, b.first_moment) && same(a.second_moment, b.second_moment) &&
         same(a.working, b.working);
}

kernels::AdamWControl adamw_control(int k, bool overflow, std::int64_t t, at::Device device) {
  const auto options = at::TensorOptions().device(device);
  return {.inverse_scale = at::full({}, std::ldexp(1.0, -k), options.dtype(at::kFloat)),
          .overflow = at::full({1}, overflow ? 1 : 0, options.dtype(at::kInt)),
          .step_count = at::full({1}, t, options.dtype(at::kLong))};
}

kernels::AdamW8bitParameter weight_8bit(std::int64_t n, std::int64_t offset, const Weight8bitTypes& types,
                                        at::Device device) {
  at::manual_seed(2);
  const at::ScalarType stored = types.copy ? at::kFloat : types.param;
  const at::Tensor param = at::randn({n}).to(stored);
  const at::Tensor gradient = (at::randn({n}) * 1e-2).to(types.gradient);
  const at::Tensor magnitudes = at::pow(10.0, at::rand({n}) * 7 - 9);  // 1e-9 to 1e-2
  const kernels::BlockQuantised m = kernels::quantise_blockwise(magnitudes * at::randn({n}).sign(), true);
  const kernels::BlockQuantised v = kernels::quantise_blockwise(magnitudes.square() * 10, false);
  kernels::AdamW8bitParameter p{.param = at_offset(param, offset, device),
                                .gradient = at_offset(gradient, offset, device),
                                .m_codes = at_offset(m.codes, offset, device),
                                .m_absmax = at_offset(m.absmax, offset, device),
                                .v_codes = at_offset(v.codes, offset, device),
                                .v_absmax = at_offset(v.absmax, offset, device)};
  if (types.copy) p.working = at_offset(param.to(types.param), offset, device);
  return p;
}

bool same_bits(const kernels::AdamW8bitParameter& a, const kernels::AdamW8bitParameter& b) {
  const auto same = [](const at::Tensor& x, const at::Tensor& y) {
    if (!x.defined() || x.scalar_type() == at::kByte) return x.defined() == y.defined() && x.cpu().equal(y.cpu());
    return same_bits(x.to(at::kCPU), y.to(at::kCPU));
  };
  const bool copies =
      a.working.defined() == b.working.defined() && (!a.working.defined() || same(a.working, b.working));
  return copies && same(a.param, b.param) && same(a.m_codes, b.m_codes) && same(a.m_absmax, b.m_absmax) &&
         same(a.v_codes, b.v_codes) && same(a.v_absmax, b.v_absmax);
}

void step_8bit(const kernels::AdamW8bitParameter& p, std::int64_t t, const kernels::AdamWControl& control) {
  kernels::adamw_8bit(std::span(&p, 1), adamw_constants(t), control);
}

kernels::AdamWReference reference_8bit(const kernels::AdamW8bitParameter& before, std::int64_t t) {
  return kernels::adamw_8bit_reference(before, kLearningRate, kBeta1, kBeta2, kEpsilon, kWeightDecay, t);
}

}  // namespace headroom::tests
