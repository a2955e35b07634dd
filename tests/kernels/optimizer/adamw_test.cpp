// AdamW on CPU and meta.
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "kernels/adamw/adamw_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/optimizer/adamw_tensors.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

kernels::AdamWStep first_step() { return kernels::adamw_step_constants(1e-2, 0.9, 0.95, 1e-8, 0.1, 1); }

void step_one(const kernels::AdamWParameter& tensors, const kernels::AdamWStep& step) {
  kernels::adamw(std::span(&tensors, 1), step);
}

}  // namespace

TEST_CASE("AdamW's first step equals a hand-computed one") {
  // p = 1, g = 0.5, no moments: m̂ = 0.5, v̂ = 0.25, so the step is η·0.5/0.5 = 0.01 and the decay η·λ·p = 0.001.
  const at::Tensor p = at::full({1}, 1.0f), g = at::full({1}, 0.5f), m = at::zeros({1}), v = at::zeros({1});
  step_one({p, g, m, v}, first_step());
  CHECK(p.item<float>() == Approx(0.989));
  CHECK(m.item<float>() == Approx(0.05));
  CHECK(v.item<float>() == Approx(0.0125));
}

TEST_CASE("a weight without decay moves only by the step") {
  const at::Tensor p = at::full({1}, 1.0f), g = at::full({1}, 0.5f), m = at::zeros({1}), v = at::zeros({1});
  step_one({p, g, m, v, /*decays=*/false}, first_step());
  CHECK(p.item<float>() == Approx(0.99));
}

TEST_CASE("bf16 results are rounded to nearest, ties to even, and NaN stays NaN") {
  const auto stored = [](float value) {
    const at::Tensor p = at::full({1}, value, at::kBFloat16), zero = at::zeros({1}, at::kBFloat16);
    const at::Tensor g = at::full({1}, 1.0f, at::kBFloat16);
    const at::Tensor m = zero.clone(), v = zero.clone();
    kernels::AdamWStep step = first_step();
    step.decay = 1;
    step.step_size = 0x1p-8f;  // for m = 0.1, v = 0.05: a step of 2^-8
    step.second_moment_scale = 0.1f / std::sqrt(0.05f);
    step.epsilon = 0;
    step_one({p, g, m, v}, step);
    return p.to(at::kFloat).item<float>();
  };
  // Below 2, neighbors are 2^-7 apart, so a step of 2^-8 ends at a tie; below 1, at the next neighbor.
  CHECK(stored(2.0f) == 2.0f);
  CHECK(stored(2.0f - 0x1p-7f) == 2.0f - 0x1p-6f);
  CHECK(stored(1.0f) == 1.0f - 0x1p-8f);
  CHECK(std::isnan(stored(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("a working copy is the rounded master, which does not change") {
  const tests::AdamWTypes types =
      GENERATE(from_range(std::begin(tests::kAdamWCopyTypes), std::end(tests::kAdamWCopyTypes)));
  const std::int64_t n = GENERATE(1, 1000, 100'003);
  const kernels::AdamWParameter with = tests::adamw_copy_tensors(n, 1, types, at::kCPU);
  kernels::AdamWParameter without = tests::on_device(with, at::kCPU);
  without.working = at::Tensor();
  without.gradient = without.gradient.to(at::kFloat);
  step_one(with, first_step());
  step_one(without, first_step());
  CHECK(tests::same_bits(with.working, with.param.to(types.param)));
  CHECK(with.param.equal(without.param));
  CHECK(with.second_moment.equal(without.second_moment));
}

TEST_CASE("a step with a scale and a counter on the device equals the plain step, and is skipped after an overflow") {
  const bool copy = GENERATE(false, true);
  const std::int64_t t = GENERATE(1, 7, 1000, 123'457);
  const tests::AdamWTypes types{at::kBFloat16, at::kFloat, at::kFloat};
  const auto fresh = [&] {
    return copy ? tests::adamw_copy_tensors(5000, 0, types, at::kCPU) : tests::adamw_tensors(5000, 0, types, at::kCPU);
  };
  const kernels::AdamWParameter plain = fresh(), scaled = fresh(), skipped = fresh(), before = fresh();
  step_one(plain, tests::adamw_constants(t));
  scaled.gradient.mul_(1024);
  const kernels::AdamWStep other_t = tests::adamw_constants(3);  // only constants other than t matter
  kernels::adamw(std::span(&scaled, 1), other_t, tests::adamw_control(10, false, t, at::kCPU));
  CHECK(tests::same_bits(scaled, plain));
  kernels::adamw(std::span(&skipped, 1), other_t, tests::adamw_control(10, true, t, at::kCPU));
  CHECK(tests::same_bits(skipped, before));
}

TEST_CASE("bias corrections equal the paper's powers") {
  for (const std::int64_t t : {1, 2, 3, 10, 1000, 1'000'000}) {
    const kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.999, 1e-8, 0.1, t);
    CHECK(step.step_size == Approx(1e-3 / (1 - std::pow(0.9, t))).epsilon(1e-7));
    CHECK(step.second_moment_scale == Approx(1 / std::sqrt(1 - std::pow(0.999, t))).epsilon(1e-7));
  }
}

TEST_CASE("stochastic rounding takes one of the two neighbors and keeps the mean") {
  constexpr std::int64_t kCount = 400'000;
  // Steps down by a third of the gap 2^-7 between neighboring numbers, so rounding picks the lower neighbor with
  // probability 1/3.
  const auto stepped = [&](std::uint64_t seed, std::int64_t t, std::int64_t number) {
    const at::Tensor p = at::full({kCount}, 1.5f, at::kBFloat16), m = at::zeros({kCount}), v = at::zeros({kCount});
    const kernels::AdamWParameter one{.param = p,
                                      .gradient = at::full({kCount}, 1.0f),
                                      .first_moment = m,
                                      .second_moment = v,
                                      .decays = false,
                                      .number = number};
    kernels::AdamWStep step = tests::adamw_constants(t);
    step.step_size = 0x1p-7f / 3 * 10;
    step.second_moment_scale = 1 / std::sqrt(0.05f);
    step.epsilon = 0;
    kernels::adamw(std::span(&one, 1), step, {.stochastic_rounding = true, .seed = seed});
    return p;
  };
  const at::Tensor p = stepped(5, 2, 0);
  const at::Tensor below = p == 1.5f - 0x1p-7f;
  CHECK(((p == 1.5f) | below).all().item<bool>());
  const double deviation = std::sqrt(1.0 / 3 * 2 / 3 / kCount);
  const auto part = [](const at::Tensor& which) { return which.to(at::kDouble).mean().item<double>(); };
  CHECK(part(below) == Approx(1.0 / 3).margin(5 * deviation));
  // Pairs share a hash, whose halves must be independent.
  const at::Tensor pairs = below.view({-1, 2});
  CHECK(part(pairs.all(1)) == Approx(1.0 / 9).margin(5 * deviation));
  CHECK(part(pairs.select(1, 0)) == Approx(1.0 / 3).margin(8 * deviation));
  CHECK(p.equal(stepped(5, 2, 0)));
  for (const at::Tensor& other : {stepped(6, 2, 0), stepped(5, 3, 0), stepped(5, 2, 1)}) {
    const at::Tensor both = below & (other == 1.5f - 0x1p-7f);  // independent: a ninth
    CHECK(part(both) == Approx(1.0 / 9).margin(5 * deviation));
  }
}

TEST_CASE("stochastic rounding keeps exact values, infinity and NaN, and numbers weights by their place") {
  const float infinity = std::numeric_limits<float>::infinity();
  const at::Tensor start = at::tensor({0.0f, 1.0f, -1.5f, infinity, -infinity}).to(at::kBFloat16).repeat({1000});
  const at::Tensor p = start.clone(), zero = at::zeros({5000});
  const kernels::AdamWControl control{.stochastic_rounding = true, .seed = 1};
  const kernels::AdamWParameter still{
      .param = p, .gradient = zero, .first_moment = zero.clone(), .second_moment = zero.clone(), .decays = false};
  kernels::adamw(std::span(&still, 1), first_step(), control);
  CHECK(p.equal(start));
  const at::Tensor nan = at::full({100}, std::numeric_limits<float>::quiet_NaN(), at::kBFloat16),
                   few = at::zeros({100});
  const kernels::AdamWParameter lost{
      .param = nan, .gradient = few, .first_moment = few.clone(), .second_moment = few.clone()};
  kernels::adamw(std::span(&lost, 1), first_step(), control);
  CHECK(nan.isnan().all().item<bool>());
  const tests::AdamWTypes types = tests::kAdamWTypes[2];
  std::vector<kernels::AdamWParameter> two{tests::adamw_tensors(999, 0, types, at::kCPU),
                                           tests::adamw_tensors(999, 0, types, at::kCPU)};
  kernels::adamw(two, first_step(), control);
  CHECK_FALSE(two[0].param.equal(two[1].param));
  kernels::AdamWParameter second = tests::adamw_tensors(999, 0, types, at::kCPU);
  second.number = 1;
  kernels::adamw(std::span(&second, 1), first_step(), control);
  CHECK(tests::same_bits(second, two[1]));
}

TEST_CASE("an overflow does not advance the step counter") {
  const at::Tensor counter = at::zeros({1}, at::kLong), overflow = at::zeros({1}, at::kInt);
  kernels::advance_step_count_(counter);
  kernels::advance_step_count_(counter, overflow);
  CHECK(counter.item<std::int64_t>() == 2);
  overflow.fill_(1);
  kernels::advance_step_count_(counter, overflow);
  CHECK(counter.item<std::int64_t>() == 2);
  CHECK_THROWS(kernels::advance_step_count_(at::zeros({1}, at::kInt)));
  CHECK_THROWS(kernels::advance_step_count_(counter, at::zeros({1}, at::kLong)));
  kernels::advance_step_count_(at::zeros({1}, at::TensorOptions(at::kLong).device(at::kMeta)));
}

TEST_CASE("AdamW refuses working copies and controls that do not fit") {
  const at::Tensor f = at::zeros({4}), b = at::zeros({4}, at::kBFloat16), h = at::zeros({4}, at::kHalf);
  const auto with = [&](const at::Tensor& p, const at::Tensor& g, const at::Tensor& copy) {
    const kernels::AdamWParameter one{
        .param = p, .gradient = g, .first_moment = f, .second_moment = f, .working = copy};
    step_one(one, first_step());
  };
  CHECK_NOTHROW(with(f, b, b));
  CHECK_THROWS(with(f, h, b));  // gradient and copy differ in type
  CHECK_THROWS(with(f, f, f));
  CHECK_THROWS(with(b, b, b));
  CHECK_THROWS(with(f, b, at::zeros({5}, at::kBFloat16)));
  const auto controlled = [&](const at::Tensor& p, const kernels::AdamWControl& control) {
    const kernels::AdamWParameter one{.param = p, .gradient = f, .first_moment = f, .second_moment = f};
    kernels::adamw(std::span(&one, 1), first_step(), control);
  };
  CHECK_THROWS(controlled(f, {.inverse_scale = at::zeros({2})}));
  CHECK_THROWS(controlled(f, {.overflow = at::zeros({1})}));
  CHECK_THROWS(controlled(f, {.step_count = at::zeros({1}, at::kInt)}));
  CHECK_THROWS(controlled(h, {.stochastic_rounding = true}));
  CHECK_THROWS(controlled(f, {.overflow = at::zeros({1}, at::TensorOptions(at::kInt).device(at::kMeta))}));
}

TEST_CASE("AdamW refuses tensors that do not fit each other") {
  const at::Tensor a = at::zeros({4}), other_shape = at::zeros({5}), bf16 = at::zeros({4}, at::kBFloat16);
  CHECK_THROWS(step_one({a, other_shape, a, a}, first_step()));
  CHECK_THROWS(step_one({a, a, bf16, a}, first_step()));
  CHECK_THROWS(step_one({a, a, a, at::zeros({8}).slice(0, 0, 8, 2)}, first_step()));
  CHECK_THROWS(step_one({a, bf16, a, a}, first_step()));
  CHECK_THROWS(step_one({a, at::Tensor(), a, a}, first_step()));
  const at::Tensor d = at::zeros({4}, at::kDouble), half = at::zeros({4}, at::kHalf);
  CHECK_THROWS(step_one({d, d, d, d}, first_step()));
  CHECK_THROWS(step_one({half, half, half, half}, first_step()));  // fp16 moments underflow
  CHECK_NOTHROW(step_one({half, half, a, a}, first_step()));
}

TEST_CASE("AdamW only checks on meta") {
  const at::Tensor a = at::zeros({4}, at::TensorOptions().device(at::kMeta));
  step_one({a, a, a, a}, first_step());
  CHECK_THROWS(step_one({a, at::zeros({5}, a.options()), a, a}, first_step()));
}
