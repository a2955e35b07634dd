#include "tests/kernels/exponent_counts_checks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace headroom::tests {

namespace {

std::size_t exact_bin(double value) {
  if (value == 0) return 256;
  if (!std::isfinite(value)) return 255;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| = f · 2^exponent with f in [½, 1)
  return static_cast<std::size_t>(std::max(0, exponent - 1 + 127));
}

}  // namespace

at::Tensor no_counts(at::Device device) {
  return at::zeros({kernels::kExponentBins}, at::TensorOptions(at::kLong).device(device));
}

std::vector<std::int64_t> numbers(const at::Tensor& counts) {
  const at::Tensor here = counts.cpu();
  const auto* const first = here.const_data_ptr<std::int64_t>();
  return {first, first + here.numel()};
}

at::Tensor every_kind(at::ScalarType type) {
  if (type != at::kFloat) return at::arange(65'536, at::kInt).to(at::kShort).view(type);
  std::vector<float> values;
  for (std::uint32_t field = 0; field < 512; ++field) {  // sign and exponent
    for (const std::uint32_t digits : {0u, 1u, 0x400000u, 0x7ffffeu, 0x7fffffu})
      values.push_back(std::bit_cast<float>(field << 23 | digits));
  }
  const at::Tensor x = at::empty({static_cast<std::int64_t>(values.size())});
  std::memcpy(x.mutable_data_ptr(), values.data(), x.nbytes());  // preserves NaN bits
  return x;
}

std::vector<std::int64_t> exact_counts(const at::Tensor& x, float factor) {
  const at::Tensor wide = x.to(at::kDouble);
  const auto* const value = wide.const_data_ptr<double>();
  std::vector<std::int64_t> counts(kernels::kExponentBins);
  for (std::int64_t i = 0; i < wide.numel(); ++i) ++counts[exact_bin(static_cast<float>(value[i] * double{factor}))];
  return counts;
}

kernels::AdamWChange random_change(std::int64_t n, at::ScalarType weight, at::ScalarType moment, at::Device device) {
  at::manual_seed(4);
  const at::Tensor before = (at::randn({n}) * 0.02).to(weight);
  at::Tensor after = before + (at::randn({n}) * 1e-3).to(weight);
  after = at::where(at::arange(n).remainder(3).eq(0), before, after);
  const at::Tensor m = at::randn({n}) * 1e-3, v = at::rand({n}) * 1e-6;
  return {.before = before.to(device),
          .after = after.to(device),
          .first_moment = m.to(moment).to(device),
          .second_moment = v.to(moment).to(device)};
}

kernels::AdamWChange exact_change(std::int64_t n, at::ScalarType weight, at::ScalarType moment) {
  at::manual_seed(5);
  const at::Tensor before = (at::randint(-8, 9, {n}) * 0.125).to(weight);
  const at::Tensor after = before + at::randint(0, 2, {n}).to(weight);
  return {.before = before,
          .after = after,
          .first_moment = (at::randint(-16, 17, {n}) * 0.25).to(moment),
          .second_moment = at::pow(4.0, at::randint(-6, 7, {n})).to(moment)};
}

kernels::AdamWStep exact_step() {
  kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 0, 0, 1);
  step.decay = 0.75F;
  step.step_size = 0.5F;
  step.second_moment_scale = 4;
  return step;
}

UpdateCounts exact_update_counts(const kernels::AdamWChange& change, bool decays) {
  const at::Tensor p = change.before.to(at::kDouble), now = change.after.to(at::kDouble);
  const at::Tensor m = change.first_moment.to(at::kDouble), v = change.second_moment.to(at::kDouble);
  UpdateCounts counts{std::vector<std::int64_t>(kernels::kExponentBins),
                      std::vector<std::int64_t>(kernels::kExponentBins)};
  for (std::int64_t i = 0; i < p.numel(); ++i) {
    const auto of = [i](const at::Tensor& x) { return x.const_data_ptr<double>()[i]; };
    const double wanted = (decays ? -0.25 * of(p) : 0.0) - 0.5 * of(m) / (4 * std::sqrt(of(v)));
    ++counts.updates[exact_bin(wanted)];
    if (of(p) == of(now) && wanted != 0) ++counts.lost[exact_bin(wanted)];
  }
  return counts;
}

UpdateCounts update_counts(const kernels::AdamWChange& change, const kernels::AdamWStep& step,
                           const kernels::AdamWControl& control) {
  const at::Tensor updates = no_counts(change.before.device()), lost = no_counts(change.before.device());
  kernels::count_updates_(updates, lost, change, step, control);
  return {numbers(updates), numbers(lost)};
}

}  // namespace headroom::tests
