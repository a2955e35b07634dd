// Counts on CPU and GPU, against float64.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "tests/kernels/optimizer/update_counts.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

using namespace headroom;

namespace {

const at::Device kCountedOn = tests::tested_device();

std::size_t exact_bin(double value) {
  if (value == 0) return 256;
  if (!std::isfinite(value)) return 255;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| = f · 2^exponent with f in [½, 1)
  return static_cast<std::size_t>(std::max(0, exponent - 1 + 127));
}

// All 16-bit numbers; for fp32, per sign and exponent, the first two, a middle one and the last two.
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

// Counts of x · factor, x [n] on the CPU: products in float64 are rounded once; exponents are from frexp.
std::vector<std::int64_t> exact_counts(const at::Tensor& x, float factor) {
  const at::Tensor wide = x.to(at::kDouble);
  const auto* const value = wide.const_data_ptr<double>();
  std::vector<std::int64_t> counts(kernels::kExponentBins);
  for (std::int64_t i = 0; i < wide.numel(); ++i) ++counts[exact_bin(static_cast<float>(value[i] * double{factor}))];
  return counts;
}

// Numbers that exact_step() changes without rounding. Some are 0.
kernels::AdamWChange exact_change(std::int64_t n, at::ScalarType weight, at::ScalarType moment) {
  at::manual_seed(5);
  const at::Tensor before = (at::randint(-8, 9, {n}) * 0.125).to(weight);
  const at::Tensor after = before + at::randint(0, 2, {n}).to(weight);
  return {.before = before,
          .after = after,
          .first_moment = (at::randint(-16, 17, {n}) * 0.25).to(moment),
          .second_moment = at::pow(4.0, at::randint(-6, 7, {n})).to(moment)};
}

// ε = 0, and factors that cause no rounding.
kernels::AdamWStep exact_step() {
  kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 0, 0, 1);
  step.decay = 0.75F;
  step.step_size = 0.5F;
  step.second_moment_scale = 4;
  return step;
}

tests::UpdateCounts exact_update_counts(const kernels::AdamWChange& change, bool decays) {
  const at::Tensor p = change.before.to(at::kDouble), now = change.after.to(at::kDouble);
  const at::Tensor m = change.first_moment.to(at::kDouble), v = change.second_moment.to(at::kDouble);
  tests::UpdateCounts counts{std::vector<std::int64_t>(kernels::kExponentBins),
                             std::vector<std::int64_t>(kernels::kExponentBins)};
  for (std::int64_t i = 0; i < p.numel(); ++i) {
    const auto of = [i](const at::Tensor& x) { return x.const_data_ptr<double>()[i]; };
    const double wanted = (decays ? -0.25 * of(p) : 0.0) - 0.5 * of(m) / (4 * std::sqrt(of(v)));
    ++counts.updates[exact_bin(wanted)];
    if (of(p) == of(now) && wanted != 0) ++counts.lost[exact_bin(wanted)];
  }
  return counts;
}

// Offset 1 prevents wide loads.
at::Tensor placed(const at::Tensor& values, std::int64_t offset) {
  const at::Tensor memory = at::zeros({values.numel() + offset}, values.options().device(kCountedOn));
  memory.narrow(0, offset, values.numel()).copy_(values);
  return memory.narrow(0, offset, values.numel());
}

std::vector<std::int64_t> counted(const at::Tensor& x, std::optional<float> factor = {}) {
  const at::Tensor counts = tests::no_counts(kCountedOn);
  const at::Tensor factor_tensor = factor ? at::full({}, *factor, counts.options().dtype(at::kFloat)) : at::Tensor();
  kernels::count_exponents_(counts, x, factor_tensor);
  return tests::numbers(counts);
}

}  // namespace

TEST_CASE("every kind of number is counted in the bin of its exponent, whatever the factor") {
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  const at::Tensor x = every_kind(type);
  CAPTURE(type, x.numel());
  CHECK(counted(placed(x, 0)) == exact_counts(x, 1));
  for (const float factor : {1.0F, 0.25F, -1.5F, 0x1p-24F, 0x1.8p-100F, 3e38F, 0.0F, INFINITY}) {
    CAPTURE(factor);
    CHECK(counted(placed(x, 0), factor) == exact_counts(x, factor));
  }
}

TEST_CASE("any count of numbers is counted, at any alignment") {
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  const std::int64_t n = GENERATE(0, 1, 7, 8, 9, 1023, 1025, 100'003, 3'000'001);
  const std::int64_t offset = GENERATE(0, 1, 3);
  at::manual_seed(3);
  const at::Tensor x = (at::randn({n}) * 1e-3).to(type);
  CAPTURE(type, n, offset);
  CHECK(counted(placed(x, offset)) == exact_counts(x, 1));
}

TEST_CASE("one bin can hold all numbers, and counts accumulate over calls") {
  const double value = GENERATE(3.0, 0.0);
  constexpr std::int64_t kNumbers = 5'000'000;
  const at::Tensor x = at::full({kNumbers}, value, at::TensorOptions(at::kBFloat16).device(kCountedOn));
  const at::Tensor counts = tests::no_counts(kCountedOn);
  for (int i = 0; i < 2; ++i) kernels::count_exponents_(counts, x);
  std::vector<std::int64_t> expected(kernels::kExponentBins);
  expected[value == 0 ? kernels::kZeroBin : 128] = 2 * kNumbers;
  CHECK(tests::numbers(counts) == expected);
}

TEST_CASE("intended and lost changes of a step are counted") {
  const at::ScalarType weight = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  const at::ScalarType moment = GENERATE(at::kFloat, at::kBFloat16);
  const std::int64_t n = GENERATE(0, 1, 7, 8, 9, 4099, 100'003);
  const std::int64_t offset = GENERATE(0, 1);
  CAPTURE(weight, moment, n, offset);
  for (const bool decays : {true, false}) {
    CAPTURE(decays);
    kernels::AdamWChange change = exact_change(n, weight, moment);
    const tests::UpdateCounts exact = exact_update_counts(change, decays);
    change.decays = decays;
    for (at::Tensor* x : {&change.before, &change.after, &change.first_moment, &change.second_moment})
      *x = placed(*x, offset);
    const tests::UpdateCounts counts = tests::update_counts(change, exact_step());
    CHECK(counts.updates == exact.updates);
    CHECK(counts.lost == exact.lost);
  }
}

TEST_CASE("t may come from the device, and an overflowed step is not counted") {
  const kernels::AdamWChange change = tests::random_change(10'000, at::kBFloat16, at::kFloat, kCountedOn);
  const auto options = at::TensorOptions().device(kCountedOn);
  const auto step = [](std::int64_t t) { return kernels::adamw_step_constants(1e-3, 0.9, 0.95, 1e-8, 0.1, t); };
  const tests::UpdateCounts third = tests::update_counts(change, step(3));
  kernels::AdamWControl control{.overflow = at::zeros({1}, options.dtype(at::kInt)),
                                .step_count = at::full({1}, 3, options.dtype(at::kLong))};
  const tests::UpdateCounts counted_on_device = tests::update_counts(change, step(1), control);
  CHECK(counted_on_device.updates == third.updates);
  CHECK(counted_on_device.lost == third.lost);
  CHECK(third.updates != tests::update_counts(change, step(1)).updates);
  control.overflow.fill_(1);
  const std::vector<std::int64_t> nothing(kernels::kExponentBins);
  CHECK(tests::update_counts(change, step(3), control).updates == nothing);
  CHECK(tests::update_counts(change, step(3), control).lost == nothing);
}

TEST_CASE("exponent counts refuse tensors that do not fit each other") {
  const at::Tensor x = at::zeros({4, 4}, at::TensorOptions().device(kCountedOn));
  const at::Tensor counts = tests::no_counts(kCountedOn), one = at::ones({}, x.options());
  const at::Tensor elsewhere = at::zeros({4}, at::TensorOptions().device(at::kMeta));
  CHECK_NOTHROW(kernels::count_exponents_(counts, x, one));
  CHECK_THROWS(kernels::count_exponents_(counts, at::Tensor()));
  CHECK_THROWS(kernels::count_exponents_(counts, x.t()));
  CHECK_THROWS(kernels::count_exponents_(counts, x.to(at::kDouble)));
  CHECK_THROWS(kernels::count_exponents_(counts, elsewhere));
  CHECK_THROWS(kernels::count_exponents_(counts, x, one.to(at::kInt)));
  CHECK_THROWS(kernels::count_exponents_(counts, x, at::ones({2}, x.options())));
  CHECK_THROWS(kernels::count_exponents_(counts.to(at::kInt), x));
  CHECK_THROWS(kernels::count_exponents_(counts.narrow(0, 0, 256), x));
  CHECK_THROWS(kernels::count_exponents_(at::Tensor(), x));

  const kernels::AdamWStep step = exact_step();
  const auto refused = [&](const auto& spoil) {
    kernels::AdamWChange change = tests::random_change(16, at::kBFloat16, at::kFloat, kCountedOn);
    CHECK_NOTHROW(kernels::count_updates_(counts, counts, change, step));
    spoil(change);
    CHECK_THROWS(kernels::count_updates_(counts, counts, change, step));
  };
  refused([](auto& change) { change.before = at::Tensor(); });
  refused([](auto& change) { change.after = change.after.to(at::kFloat); });
  refused([](auto& change) { change.after = change.after.narrow(0, 0, 15); });
  refused([](auto& change) { change.first_moment = at::Tensor(); });
  refused([](auto& change) { change.second_moment = change.second_moment.to(at::kBFloat16); });
  refused([](auto& change) {
    change.first_moment = change.first_moment.to(at::kHalf), change.second_moment = change.first_moment;
  });
  refused([&](auto& change) { change.second_moment = elsewhere; });
  const kernels::AdamWChange change = tests::random_change(16, at::kBFloat16, at::kFloat, kCountedOn);
  CHECK_THROWS(kernels::count_updates_(counts, x, change, step));
  CHECK_THROWS(kernels::count_updates_(counts, counts, change, step, {.overflow = x}));
}

TEST_CASE("nothing is counted on meta, but tensors are checked") {
  const at::Tensor x = at::zeros({4}, at::TensorOptions().device(at::kMeta));
  const at::Tensor counts = tests::no_counts(at::kMeta);
  kernels::count_exponents_(counts, x, x.narrow(0, 0, 1));
  CHECK_THROWS(kernels::count_exponents_(counts, x, x));
  const kernels::AdamWChange change{x, x, x, x};
  kernels::count_updates_(counts, counts, change, exact_step());
  CHECK_THROWS(kernels::count_updates_(counts, x, change, exact_step()));
}
