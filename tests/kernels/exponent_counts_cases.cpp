// Counts on CPU and GPU, against float64.
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/exponent_counts/exponent_counts_ops.h"
#include "tests/kernels/exponent_counts_checks.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

using namespace headroom;

namespace {

const at::Device kCountedOn = tests::tested_device();

// Starts at element `offset`; 1 prevents wide loads.
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
  const at::Tensor x = tests::every_kind(type);
  CAPTURE(type, x.numel());
  CHECK(counted(placed(x, 0)) == tests::exact_counts(x, 1));
  for (const float factor : {1.0F, 0.25F, -1.5F, 0x1p-24F, 0x1.8p-100F, 3e38F, 0.0F, INFINITY}) {
    CAPTURE(factor);
    CHECK(counted(placed(x, 0), factor) == tests::exact_counts(x, factor));
  }
}

TEST_CASE("any count of numbers is counted, at any alignment") {
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  const std::int64_t n = GENERATE(0, 1, 7, 8, 9, 1023, 1025, 100'003, 3'000'001);
  const std::int64_t offset = GENERATE(0, 1, 3);
  at::manual_seed(3);
  const at::Tensor x = (at::randn({n}) * 1e-3).to(type);
  CAPTURE(type, n, offset);
  CHECK(counted(placed(x, offset)) == tests::exact_counts(x, 1));
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
    kernels::AdamWChange change = tests::exact_change(n, weight, moment);
    const tests::UpdateCounts exact = tests::exact_update_counts(change, decays);
    change.decays = decays;
    for (at::Tensor* x : {&change.before, &change.after, &change.first_moment, &change.second_moment})
      *x = placed(*x, offset);
    const tests::UpdateCounts counts = tests::update_counts(change, tests::exact_step());
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

  const kernels::AdamWStep step = tests::exact_step();
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
