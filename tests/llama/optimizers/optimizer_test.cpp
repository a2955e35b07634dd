// Optimizers with hand-made gradients: masters, loss scale, projections and observers.
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "demos/engine/llama/optimizers/galore.h"
#include "demos/engine/llama/optimizers/optimizer_choice.h"
#include "demos/engine/llama/step/loss_scaling.h"
#include "demos/engine/llama/step/magnitudes.h"
#include "kernels/adamw_8bit/adamw_8bit_ops.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using llama::AdamW;
using llama::AdamWOptions;
using llama::LossScale;
using llama::Optimizer;
using llama::OptimizerKind;
using llama::OptimizerOptions;
using llama::Parameter;

// A layer's wide, tall and square matrices and its norm, and a table outside the layers.
std::vector<Parameter> weights(at::ScalarType type = at::kFloat) {
  at::manual_seed(5);
  const auto weight = [&](at::IntArrayRef shape, std::uint16_t layer) {
    return Parameter{.name = "w", .tensor = (at::randn(shape) * 0.02).to(type).requires_grad_(true), .layer = layer};
  };
  return {weight({24, 70}, 0), weight({70, 24}, 0), weight({32, 32}, 0), weight({24}, 0),
          weight({40, 24}, record::kNoLayer)};
}

void set_gradients(const std::vector<Parameter>& all, int t, double factor = 1) {
  at::manual_seed(1000 + t);
  for (const Parameter& p : all) {
    at::Tensor weight = p.tensor;
    weight.mutable_grad() = (at::randn(weight.sizes()) * 1e-3 * factor).to(weight.scalar_type());
  }
}

std::vector<at::Tensor> values(const std::vector<Parameter>& all) {
  std::vector<at::Tensor> copies;
  for (const Parameter& p : all) copies.push_back(p.tensor.detach().clone());
  return copies;
}

bool all_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!at::equal(a[i], b[i])) return false;
  return a.size() == b.size();
}

void run(Optimizer& optimizer, const std::vector<Parameter>& all, int steps, double factor = 1) {
  for (int t = 0; t < steps; ++t) {
    set_gradients(all, t, factor);
    optimizer.step();
  }
}

const double kDoubleInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("weights with fp32 masters are the rounding of weights stepped in fp32") {
  const at::ScalarType type = GENERATE(at::kBFloat16, at::kHalf);
  CAPTURE(type);
  const std::vector<Parameter> narrow = weights(type);
  std::vector<Parameter> wide = weights(type);
  for (Parameter& p : wide) p.tensor = p.tensor.detach().to(at::kFloat).requires_grad_(true);
  AdamW mixed(narrow, {.masters = true}), plain(wide, {});
  for (int t = 0; t < 20; ++t) {
    set_gradients(narrow, t);
    for (std::size_t i = 0; i < wide.size(); ++i)
      wide[i].tensor.mutable_grad() = narrow[i].tensor.grad().to(at::kFloat);
    mixed.step();
    plain.step();
  }
  for (std::size_t i = 0; i < wide.size(); ++i) {
    CAPTURE(i);
    CHECK(at::equal(narrow[i].tensor.detach(), wide[i].tensor.detach().to(type)));
    CHECK(at::equal(mixed.first_moment(i), plain.first_moment(i)));
  }
}

TEST_CASE("masters composed from PyTorch's operators agree up to rounding") {
  const std::vector<Parameter> fused = weights(at::kBFloat16), eager = weights(at::kBFloat16);
  AdamW one(fused, {.masters = true}), other(eager, {.fused = false, .masters = true});
  run(one, fused, 5);
  run(other, eager, 5);
  for (std::size_t i = 0; i < fused.size(); ++i)
    CHECK((fused[i].tensor - eager[i].tensor).abs().max().item<double>() < 1e-3);
}

TEST_CASE("a loss scale that is a power of two changes no bit") {
  const OptimizerKind kind = GENERATE(OptimizerKind::kAdamW, OptimizerKind::kAdamW8bit);
  LossScale scale(1024, 1000, at::kCPU);
  const std::vector<Parameter> scaled = weights(), plain = weights();
  const auto with = llama::make_optimizer(scaled, {.kind = kind, .adamw = {.loss_scale = &scale}});
  const auto without = llama::make_optimizer(plain, {.kind = kind});
  run(*with, scaled, 5, 1024);
  run(*without, plain, 5);
  CHECK(all_equal(values(scaled), values(plain)));
  CHECK(scale.skipped_steps() == 0);
}

TEST_CASE("an overflowing step changes nothing, halves the scale and does not count") {
  const OptimizerKind kind = GENERATE(OptimizerKind::kAdamW, OptimizerKind::kAdamW8bit);
  const double bad = GENERATE(as<double>{}, kDoubleInfinity, -kDoubleInfinity, std::nan(""));
  LossScale scale(1024, 1000, at::kCPU);
  const std::vector<Parameter> all = weights(at::kHalf), others = weights(at::kHalf);
  const OptimizerOptions options{.kind = kind, .adamw = {.masters = true, .loss_scale = &scale}};
  const auto optimizer = llama::make_optimizer(all, options);
  const std::vector<at::Tensor> before = values(all);

  CAPTURE(bad);
  set_gradients(all, 0, 1024);
  all[4].tensor.grad()[39][23] = bad;
  optimizer->step();
  CHECK(all_equal(values(all), before));
  CHECK(scale.skipped_steps() == 1);
  CHECK(scale.last_scale() == 1024);
  CHECK(scale.scale().item<float>() == 512);
  CHECK(scale.inverse().item<float>() == 1.0F / 512);

  // Continues like a run that begins with 512.
  LossScale from_512(512, 1000, at::kCPU);
  OptimizerOptions fresh = options;
  fresh.adamw.loss_scale = &from_512;
  const auto other = llama::make_optimizer(others, fresh);
  run(*optimizer, all, 3, 512);
  run(*other, others, 3, 512);
  CHECK(all_equal(values(all), values(others)));
  CHECK_FALSE(all_equal(values(all), before));
  CHECK(scale.skipped_steps() == 1);
}

TEST_CASE("an overflow in portions skips the portions from its own on") {
  const OptimizerKind kind = GENERATE(OptimizerKind::kAdamW, OptimizerKind::kAdamW8bit);
  LossScale scale(1024, 1000, at::kCPU), good_scale(1024, 1000, at::kCPU);
  const std::vector<Parameter> all = weights(at::kHalf), good = weights(at::kHalf);
  const auto make = [&](const std::vector<Parameter>& parameters, LossScale& its) {
    return llama::make_optimizer(parameters, {.kind = kind, .adamw = {.masters = true, .loss_scale = &its}});
  };
  const auto optimizer = make(all, scale), without = make(good, good_scale);
  const std::vector<at::Tensor> before = values(all);
  set_gradients(all, 0, 1024);
  set_gradients(good, 0, 1024);
  without->step();
  all[2].tensor.grad()[0][0] = kDoubleInfinity;
  for (const std::size_t i : {std::size_t{4}, std::size_t{2}, std::size_t{0}}) {
    optimizer->begin_step();
    optimizer->update(std::span(&i, 1));
    optimizer->drop_gradients(std::span(&i, 1));
  }
  optimizer->step();
  const std::vector<at::Tensor> after = values(all), stepped = values(good);
  CHECK(at::equal(after[4], stepped[4]));
  CHECK_FALSE(at::equal(after[4], before[4]));
  for (const std::size_t i : {0, 1, 2, 3}) CHECK(at::equal(after[i], before[i]));
  CHECK(scale.skipped_steps() == 1);
  CHECK(scale.scale().item<float>() == 512);

  for (int t = 1; t < 4; ++t) {
    set_gradients(all, t, 512);
    optimizer->step();
  }
  for (std::size_t i = 0; i < all.size(); ++i) CHECK_FALSE(at::equal(values(all)[i], after[i]));
  CHECK(scale.skipped_steps() == 1);
}

TEST_CASE("the scale doubles after a window of steps without overflow") {
  LossScale scale(4, 3, at::kCPU);
  const std::vector<Parameter> all = weights();
  AdamW optimizer(all, {.loss_scale = &scale});
  run(optimizer, all, 2);
  CHECK(scale.scale().item<float>() == 4);
  run(optimizer, all, 1);
  CHECK(scale.scale().item<float>() == 8);
  CHECK(scale.last_scale() == 4);
  run(optimizer, all, 3);
  CHECK(scale.scale().item<float>() == 16);
}

TEST_CASE("portions of a step add up to the step in any order") {
  const OptimizerKind kind = GENERATE(OptimizerKind::kAdamW, OptimizerKind::kAdamW8bit, OptimizerKind::kGaLore);
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16);
  const OptimizerOptions options{.kind = kind,
                                 .adamw = {.stochastic_rounding = type == at::kBFloat16, .seed = 9},
                                 .galore = {.rank = 8, .interval = 2}};
  const std::vector<Parameter> whole = weights(type), parts = weights(type);
  const auto at_once = llama::make_optimizer(whole, options), in_portions = llama::make_optimizer(parts, options);
  for (int t = 0; t < 4; ++t) {
    set_gradients(whole, t);
    set_gradients(parts, t);
    at_once->step();
    for (const std::size_t i : {std::size_t{4}, std::size_t{2}, std::size_t{0}}) {
      in_portions->begin_step();
      in_portions->update(std::span(&i, 1));
      in_portions->drop_gradients(std::span(&i, 1));
    }
    in_portions->step();
  }
  CHECK(all_equal(values(whole), values(parts)));
}

TEST_CASE("outer gradients may be completed after the layers' update, unless all are read at once") {
  const double clip = GENERATE(0.0, 0.01);
  CAPTURE(clip);
  const std::vector<Parameter> at_once = weights(), late = weights();
  AdamW one(at_once, {.clip = clip}), other(late, {.clip = clip});
  for (int t = 0; t < 3; ++t) {
    set_gradients(at_once, t);
    one.step();
    set_gradients(late, t);
    at::Tensor table = late.back().tensor;
    const at::Tensor complete = table.grad(), before = late.front().tensor.detach().clone();
    table.mutable_grad() = at::zeros_like(complete);
    other.step([&] {
      table.mutable_grad() = complete;
      CHECK(at::equal(late.front().tensor.detach(), before) == (clip > 0));
    });
  }
  CHECK(all_equal(values(at_once), values(late)));
}

TEST_CASE("stochastic rounding moves weights that rounding to nearest does not change") {
  const std::vector<Parameter> nearest = weights(at::kBFloat16), random = weights(at::kBFloat16);
  const std::vector<at::Tensor> before = values(nearest);
  const double rate = 1e-6;  // bf16 neighbors of weights around 0.02 are 1e-4 away
  AdamW one(nearest, {.learning_rate = rate, .weight_decay = 0});
  AdamW other(random, {.learning_rate = rate, .weight_decay = 0, .stochastic_rounding = true, .seed = 3});
  run(one, nearest, 40);
  run(other, random, 40);
  const double still = at::eq(nearest[0].tensor, before[0]).to(at::kFloat).mean().item<double>();
  const double moved = at::ne(random[0].tensor, before[0]).to(at::kFloat).mean().item<double>();
  CAPTURE(still, moved);
  CHECK(still > 0.9);
  CHECK(moved > 1.5 * (1 - still));
}

TEST_CASE("GaLore with the identity as projection and a scale of 1 equals AdamW bit for bit") {
  const std::vector<Parameter> low = weights(), full = weights();
  llama::GaLore galore(low, {}, {.rank = 1000, .scale = 1, .identity = true});
  AdamW adamw(full, {});
  run(galore, low, 10);
  run(adamw, full, 10);
  for (std::size_t i = 0; i < low.size(); ++i) {
    CAPTURE(i, (low[i].tensor - full[i].tensor).abs().max().item<double>());
    CHECK(at::equal(low[i].tensor, full[i].tensor));
  }
}

TEST_CASE("GaLore's first step is in the span of the gradient's top singular vectors") {
  const std::vector<Parameter> all = weights();
  const std::vector<at::Tensor> before = values(all);
  constexpr std::int64_t kRank = 5;
  llama::GaLore galore(all, {.weight_decay = 0}, {.rank = kRank, .scale = 1});
  set_gradients(all, 0);
  const std::vector<at::Tensor> gradient{all[0].tensor.grad().clone(), all[1].tensor.grad().clone(),
                                         all[2].tensor.grad().clone()};
  galore.step();
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {  // wide, tall, square like tall
    const auto [u, s, vh] = at::linalg_svd(gradient[i], /*full_matrices=*/false);
    const at::Tensor change = all[i].tensor.detach() - before[i];
    const at::Tensor side = i == 0 ? u.narrow(1, 0, kRank) : vh.narrow(0, 0, kRank).t();  // [short, r]
    const at::Tensor inside = i == 0 ? at::mm(side, at::mm(side.t(), change)) : at::mm(at::mm(change, side), side.t());
    CHECK((change - inside).norm().item<double>() < 1e-3 * change.norm().item<double>());
    CHECK(change.norm().item<double>() > 0);
  }
}

TEST_CASE("GaLore's projection is constant within its interval") {
  const auto reached = [](std::int64_t interval) {
    const std::vector<Parameter> all = weights();
    llama::GaLore galore(all, {}, {.rank = 4, .interval = interval});
    run(galore, all, 3);
    return values(all);
  };
  CHECK(all_equal(reached(3), reached(200)));
  CHECK_FALSE(all_equal(reached(2), reached(200)));
}

TEST_CASE("a non-finite gradient fails GaLore's refresh with an error") {
  const std::vector<Parameter> all = weights();
  llama::GaLore galore(all, {}, {.rank = 4});
  set_gradients(all, 0);
  all[0].tensor.grad()[0][0] = kDoubleInfinity;
  CHECK_THROWS_AS(galore.step(), c10::Error);
}

TEST_CASE("magnitudes are counted by exponent, with zeros and non-finite numbers separate") {
  llama::MagnitudeCounts counts("x", at::kCPU);
  const float tiny = std::numeric_limits<float>::denorm_min();
  const at::Tensor x = at::tensor(
      {1.0F, 1.5F, -1.99F, 2.0F, 0.25F, 0.0F, -0.0F, static_cast<float>(kDoubleInfinity), std::nanf(""), tiny});
  counts.add(x);
  const record::Histogram histogram = counts.read(7);
  CHECK(histogram.name == "x");
  CHECK(histogram.step == 7);
  CHECK(histogram.zeros == 2);
  CHECK(histogram.not_finite == 2);
  const auto at_exponent = [&](int exponent) {
    return histogram.counts.at(static_cast<std::size_t>(exponent - histogram.low_exponent));
  };
  CHECK(at_exponent(0) == 3);
  CHECK(at_exponent(1) == 1);
  CHECK(at_exponent(-2) == 1);
  CHECK(at_exponent(-1) == 0);
  CHECK(histogram.low_exponent == -127);  // below 2^-126
  CHECK(at_exponent(-127) == 1);
  CHECK(histogram.counts.size() == 129);

  counts.clear();
  counts.add(x.masked_select(x.abs().ge(1.0F)), at::full({}, 0.25F));  // 1, 1.5, -1.99, 2, inf
  const record::Histogram quarter = counts.read(0);
  CHECK(quarter.low_exponent == -2);
  CHECK(quarter.counts == std::vector<std::int64_t>{3, 1});
  CHECK(quarter.zeros == 0);
  CHECK(quarter.not_finite == 1);

  counts.clear();
  counts.add(at::full({5'000'000}, 3.0F).to(at::kBFloat16));
  CHECK(counts.read(0).counts == std::vector<std::int64_t>{5'000'000});
}

TEST_CASE("updates lost in bf16 are counted next to all updates") {
  const auto lost_share = [](at::ScalarType type) {
    const std::vector<Parameter> all = weights(type);
    AdamW optimizer(all, {.learning_rate = 1e-5});
    llama::StepMagnitudes magnitudes(optimizer, {});
    const std::vector<at::Tensor> before = values(all);
    magnitudes.before_layer(0, record::Phase::kForward);
    set_gradients(all, 0);
    magnitudes.gradients_ready(0);
    magnitudes.gradients_ready(llama::kOuterLayer);
    optimizer.step();
    const std::vector<record::Histogram> counted = magnitudes.read(0);
    REQUIRE(counted.size() == 3);
    std::int64_t number[3] = {};
    for (std::size_t k = 0; k < 3; ++k)
      for (const std::int64_t count : counted[k].counts) number[k] += count;
    std::int64_t weights_in_all = 0, unchanged = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      weights_in_all += all[i].tensor.numel();
      unchanged += at::eq(all[i].tensor, before[i]).sum().item<std::int64_t>();
    }
    CHECK(number[0] + counted[0].zeros == weights_in_all);
    CHECK(number[1] + counted[1].zeros == weights_in_all);
    CHECK(number[2] == unchanged - counted[1].zeros);
    // Adam's first update is the learning rate: 2^-17 ≤ 1e-5 < 2^-16.
    CHECK(counted[1].low_exponent >= -18);
    CHECK(counted[1].low_exponent + static_cast<int>(counted[1].counts.size()) <= -15);
    return static_cast<double>(number[2]) / static_cast<double>(number[1]);
  };
  CHECK(lost_share(at::kFloat) < 0.001);
  CHECK(lost_share(at::kBFloat16) > 0.5);
}
