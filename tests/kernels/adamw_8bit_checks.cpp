#include "tests/kernels/adamw_8bit_checks.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "tests/kernels/kernel_checks.h"

namespace headroom::tests {

namespace {

constexpr double kLearningRate = 1e-2, kBeta1 = 0.9, kBeta2 = 0.95, kEpsilon = 1e-8, kWeightDecay = 0.1;

at::Tensor moved(const at::Tensor& tensor, std::int64_t offset, at::Device device) {
  const at::Tensor storage = at::empty({tensor.numel() + offset}, tensor.options().device(device));
  const at::Tensor place = storage.narrow(0, offset, tensor.numel());
  place.copy_(tensor);
  return place;
}

}  // namespace

kernels::AdamW8bitParameter weight_8bit(std::int64_t n, std::int64_t offset, const Weight8bitTypes& types,
                                        at::Device device) {
  at::manual_seed(2);
  const at::ScalarType stored = types.copy ? at::kFloat : types.param;
  const at::Tensor param = at::randn({n}).to(stored);
  const at::Tensor gradient = (at::randn({n}) * 1e-2).to(types.gradient);
  const at::Tensor magnitudes = at::pow(10.0, at::rand({n}) * 7 - 9);  // 1e-9 to 1e-2
  const kernels::BlockQuantised m = kernels::quantise_blockwise(magnitudes * at::randn({n}).sign(), true);
  const kernels::BlockQuantised v = kernels::quantise_blockwise(magnitudes.square() * 10, false);
  kernels::AdamW8bitParameter p{.param = moved(param, offset, device),
                                .gradient = moved(gradient, offset, device),
                                .m_codes = moved(m.codes, offset, device),
                                .m_absmax = moved(m.absmax, offset, device),
                                .v_codes = moved(v.codes, offset, device),
                                .v_absmax = moved(v.absmax, offset, device)};
  if (types.copy) p.working = moved(param.to(types.param), offset, device);
  return p;
}

kernels::AdamW8bitParameter copied(const kernels::AdamW8bitParameter& p, at::Device device) {
  kernels::AdamW8bitParameter copy = p;
  for (at::Tensor* t :
       {&copy.param, &copy.gradient, &copy.m_codes, &copy.m_absmax, &copy.v_codes, &copy.v_absmax, &copy.working}) {
    if (t->defined()) *t = t->to(device).clone();
  }
  return copy;
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
  kernels::adamw_8bit(std::span(&p, 1),
                      kernels::adamw_step_constants(kLearningRate, kBeta1, kBeta2, kEpsilon, kWeightDecay, t), control);
}

kernels::AdamWReference reference_8bit(const kernels::AdamW8bitParameter& before, std::int64_t t) {
  return kernels::adamw_8bit_reference(before, kLearningRate, kBeta1, kBeta2, kEpsilon, kWeightDecay, t);
}

double beyond_nearest(const at::Tensor& values, const at::Tensor& exact, bool is_signed) {
  const at::Tensor map_tensor = std::get<0>(kernels::dynamic_map_reference(is_signed).sort());
  const std::span<const double> map(map_tensor.const_data_ptr<double>(), 256);
  const at::Tensor v = values.cpu().to(at::kDouble).contiguous(), e = exact.cpu().to(at::kDouble).contiguous();
  const double* const value = v.const_data_ptr<double>();
  const double* const wanted = e.const_data_ptr<double>();
  double most = 0;
  for (std::int64_t first = 0; first < v.numel(); first += kernels::kQuantisedBlock) {
    const std::int64_t end = std::min(first + kernels::kQuantisedBlock, v.numel());
    double absmax = 0;
    for (std::int64_t i = first; i < end; ++i) absmax = std::max(absmax, std::abs(wanted[i]));
    for (std::int64_t i = first; i < end && absmax > 0; ++i) {
      const double x = wanted[i] / absmax;
      const auto above = std::lower_bound(map.begin(), map.end(), x);
      double nearest = 10;
      if (above != map.end()) nearest = std::min(nearest, *above - x);
      if (above != map.begin()) nearest = std::min(nearest, x - *(above - 1));
      if (!is_signed && x > 0 && x < map[1]) nearest = map[1] - x;  // never 0
      most = std::max(most, std::abs(value[i] / absmax - x) - nearest - 1e-6 * std::abs(x));
    }
  }
  return most;
}

}  // namespace headroom::tests
