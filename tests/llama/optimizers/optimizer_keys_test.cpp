// The settings of each optimizer, against the formula in float64.
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "demos/engine/experiments/train_step_optimizer.h"
#include "demos/engine/llama/optimizers/learning_rate.h"
#include "kernels/adamw/adamw_ops.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;

constexpr int kSteps = 3;

at::ScalarType type_of(predict::Precision precision) {
  if (precision == predict::Precision::kFp32) return at::kFloat;
  return predict::has_loss_scale(precision) ? at::kHalf : at::kBFloat16;
}

// Scales the matrices so that weight decay matters.
llama::Model model_of(const predict::StepSettings& step) {
  llama::Model model = llama::make_model(step.model, {}, {.type = type_of(step.precision)}, step.sequence, step.seed);
  const at::AutoGradMode grad_mode(false);
  for (const llama::Parameter& weight : llama::parameters(model))
    if (weight.tensor.dim() > 1) at::Tensor(weight.tensor).mul_(50);
  return model;
}

struct Stepped {
  explicit Stepped(const Settings& settings)
      : step(predict::step_settings(params(joined(kSmallSettings, settings)))),
        offload({.optimizer = step.offload.state != predict::StateOffload::kOff}, at::kCPU, 0),
        model(model_of(step)),
        optimizer(step, model, offload, options) {}

  const std::vector<llama::Parameter>& weights() { return optimizer.optimizer().parameters(); }

  predict::StepSettings step;
  llama::TrainOptions options;
  llama::Offload offload;
  llama::Model model;
  experiments::StepOptimizer optimizer;
};

at::Tensor gradient_of(const at::Tensor& weight, std::size_t number, int t) {
  at::manual_seed(1000 * t + static_cast<int>(number));
  return at::randn(weight.sizes()) * 1e-3;
}

// clip_grad_norm_'s coefficient, by torch's operators in the same order.
double torch_clip_coefficient(const std::vector<at::Tensor>& gradients, double most) {
  std::vector<at::Tensor> norms;
  for (const at::Tensor& gradient : gradients) norms.push_back(at::linalg_vector_norm(gradient, 2));
  const at::Tensor total = at::linalg_vector_norm(at::stack(norms), 2);
  return (most / (total + 1e-6)).clamp_max(1.0).item<double>();
}

// Steps with gradients that torch clips to the norm `most`; 0: unclipped.
std::vector<at::Tensor> stepped(Stepped& run, double most) {
  const std::vector<llama::Parameter>& weights = run.weights();
  const double scale = run.options.loss_scale.defined() ? run.options.loss_scale.item<double>() : 1;
  for (int t = 1; t <= kSteps; ++t) {
    std::vector<at::Tensor> gradients;
    for (std::size_t i = 0; i < weights.size(); ++i) gradients.push_back(gradient_of(weights[i].tensor, i, t));
    const double coefficient = most > 0 ? torch_clip_coefficient(gradients, most) : 1;
    for (std::size_t i = 0; i < weights.size(); ++i)
      at::Tensor(weights[i].tensor).mutable_grad() =
          (gradients[i] * (coefficient * scale)).to(weights[i].tensor.scalar_type());
    run.optimizer.optimizer().step();
  }
  std::vector<at::Tensor> all;
  for (const llama::Parameter& weight : weights) all.push_back(weight.tensor.detach().to(at::kFloat));
  return all;
}

// Weights by the paper's formula, with rate rates[t − 1] at step t.
std::vector<at::Tensor> by_formula(const predict::StepSettings& step, const std::vector<llama::Parameter>& weights,
                                   const std::array<double, kSteps>& rates) {
  std::vector<at::Tensor> all;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const at::Tensor start = weights[i].tensor.detach().to(at::kDouble), zero = at::zeros_like(start);
    kernels::AdamWReference at_t{.param = start, .first_moment = zero, .second_moment = zero};
    const double decay = start.dim() > 1 ? step.optimizer.weight_decay : 0;
    for (int t = 1; t <= kSteps; ++t)
      at_t = kernels::adamw_reference(at_t.param, gradient_of(start, i, t), at_t.first_moment, at_t.second_moment,
                                      rates[static_cast<std::size_t>(t - 1)], step.optimizer.beta1,
                                      step.optimizer.beta2, step.optimizer.epsilon, decay, t);
    all.push_back(at_t.param);
  }
  return all;
}

// AdamW steps what GaLore does not project: vectors and matrices outside layers.
bool is_stepped_by_adamw(const predict::StepSettings& step, const llama::Parameter& weight) {
  return step.optimizer.kind != predict::OptimizerKind::kGaLore || weight.layer == record::kNoLayer ||
         weight.tensor.dim() == 1;
}

void check_steps(const Settings& settings, const std::array<double, kSteps>& rates) {
  Stepped run(settings);
  const std::vector<llama::Parameter>& weights = run.weights();
  std::vector<at::Tensor> before;
  for (const llama::Parameter& weight : weights) before.push_back(weight.tensor.detach().clone());
  const std::vector<at::Tensor> exact = by_formula(run.step, weights, rates);
  for (int t = 1; t <= kSteps; ++t) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      at::Tensor(weights[i].tensor).mutable_grad() = gradient_of(weights[i].tensor, i, t);
    run.optimizer.begin_step(t - 1, kSteps);
    run.optimizer.optimizer().step();
  }
  // 8-bit moments have two digits.
  const double tolerance = run.step.optimizer.kind == predict::OptimizerKind::kAdamW8bit ? 0.05 : 1e-4;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!is_stepped_by_adamw(run.step, weights[i])) continue;
    CAPTURE(weights[i].name);
    const at::Tensor change = exact[i] - before[i], off = weights[i].tensor.detach() - exact[i];
    CHECK(off.norm().item<double>() < tolerance * change.norm().item<double>());
  }
}

}  // namespace

TEST_CASE("each of AdamW's settings changes the step by the formula, with every optimizer") {
  const std::string kind = GENERATE("fused.adamw=on", "fused.adamw=off", "optimizer=adamw_8bit", "optimizer=galore",
                                    "offload.optimizer=host");
  const Settings set = GENERATE(Settings{}, Settings{"beta1=0.2"}, Settings{"beta2=0.3"}, Settings{"epsilon=0.003"},
                                Settings{"weight_decay=0.9"}, Settings{"weight_decay=0"});
  CAPTURE(kind, text_of(set));
  check_steps(joined({kind, "learning_rate=0.01"}, set), {0.01, 0.01, 0.01});
}

TEST_CASE("the learning rate follows its schedule with every optimizer") {
  const std::string kind = GENERATE("fused.adamw=on", "fused.adamw=off", "optimizer=adamw_8bit", "optimizer=galore",
                                    "offload.optimizer=host", "offload.optimizer=file");
  CAPTURE(kind);
  check_steps({kind, "learning_rate=0.04", "schedule=linear", "warmup_steps=1"}, {0, 0.04, 0.02});
  check_steps({kind, "learning_rate=0.04", "schedule=cosine", "schedule_steps=4"}, {0.04, 0.0341421356237, 0.02});
}

TEST_CASE("learning rates equal transformers' schedules") {
  using enum predict::Schedule;
  struct Case {
    predict::Schedule kind;
    std::int64_t warmup, n;
    std::vector<double> rates;  // of steps 0 … n, by transformers/optimization.py with a rate of 1
  };
  const std::vector<Case> cases{
      {kConstant, 0, 5, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}},
      {kConstant, 3, 7, {0.0, 0.3333333333333333, 0.6666666666666666, 1.0, 1.0, 1.0, 1.0, 1.0}},
      {kConstant, 5, 5, {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}},
      {kLinear, 0, 5, {1.0, 0.8, 0.6, 0.4, 0.2, 0.0}},
      {kLinear, 3, 7, {0.0, 0.3333333333333333, 0.6666666666666666, 1.0, 0.75, 0.5, 0.25, 0.0}},
      {kLinear, 5, 5, {0.0, 0.2, 0.4, 0.6, 0.8, 0.0}},
      {kCosine, 0, 5, {1.0, 0.9045084971874737, 0.6545084971874737, 0.34549150281252633, 0.09549150281252633, 0.0}},
      {kCosine,
       3,
       7,
       {0.0, 0.3333333333333333, 0.6666666666666666, 1.0, 0.8535533905932737, 0.5, 0.14644660940672627, 0.0}},
      {kCosine, 5, 5, {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}},
  };
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.kind), c.warmup, c.n);
    const llama::RateSchedule schedule{.kind = c.kind, .peak = 1, .warmup_steps = c.warmup};
    for (std::size_t s = 0; s < c.rates.size(); ++s)
      CHECK(llama::rate_of_step(schedule, static_cast<std::int64_t>(s), c.n) == Approx(c.rates[s]).margin(1e-15));
  }
  for (const predict::Schedule kind : {kLinear, kCosine}) CHECK(llama::rate_of_step({.kind = kind}, 30, 20) == 0);
  CHECK(llama::rate_of_step({.peak = 0.1}, 1'000'000, 3) == 0.1);
}

TEST_CASE("a CUDA graph has one learning rate") {
  for (const char* const changing : {"schedule=linear", "schedule=cosine", "warmup_steps=2"}) {
    const auto refused = run_or_refusal(params({"cuda_graph=on", changing}), kPlanForGpu);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message == std::string("cuda_graph=on cannot be combined with ") + changing +
                                         ": a graph repeats the learning rate of the recorded step.");
  }
  CHECK(run_or_refusal(params({"cuda_graph=on", "schedule=constant", "learning_rate=0.01"}), kPlanForGpu).ok());
}

TEST_CASE("gradients are clipped like torch's, with every optimizer") {
  const std::string kind = GENERATE("fused.adamw=on", "fused.adamw=off", "optimizer=adamw_8bit", "optimizer=galore",
                                    "precision=fp16_mixed", "precision=bf16_mixed");
  CAPTURE(kind);
  // AdamW's step depends on the gradients' size only through ε.
  const Settings settings{kind, "learning_rate=0.01", "epsilon=0.001"};
  Stepped plain(settings), by_torch(settings), ours(joined(settings, {"clip=0.05"})),
      wide(joined(settings, {"clip=9"}));
  const std::vector<at::Tensor> begin = [&] {
    std::vector<at::Tensor> all;
    for (const llama::Parameter& weight : plain.weights()) all.push_back(weight.tensor.detach().to(at::kFloat).clone());
    return all;
  }();
  const std::vector<at::Tensor> unclipped = stepped(plain, 0), exact = stepped(by_torch, 0.05),
                                clipped = stepped(ours, 0), free = stepped(wide, 0);
  // Torch rounds clipped gradients to 16 bits; 8-bit moments may round to a neighbor.
  const bool narrow = ours.step.precision != predict::Precision::kFp32;
  const bool in_8_bits = ours.step.optimizer.kind == predict::OptimizerKind::kAdamW8bit;
  const double tolerance = narrow ? 0.05 : in_8_bits ? 0.01 : 1e-4;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    CAPTURE(plain.weights()[i].name);
    if (narrow && begin[i].dim() == 1) continue;  // norms of ones, whose 16-bit neighbors are more than a step away
    const double change = (exact[i] - begin[i]).norm().item<double>();
    CHECK((clipped[i] - exact[i]).norm().item<double>() <= tolerance * change);
    CHECK((clipped[i] - unclipped[i]).norm().item<double>() > 0.1 * (unclipped[i] - begin[i]).norm().item<double>());
    CHECK(at::equal(free[i], unclipped[i]));  // not clipped: the norm is below 9
  }
}

TEST_CASE("an overflowing step is skipped with and without clipping") {
  Stepped run({"precision=fp16_mixed", "clip=0.05"});
  std::vector<at::Tensor> before;
  for (const llama::Parameter& weight : run.weights()) {
    before.push_back(weight.tensor.detach().clone());
    at::Tensor(weight.tensor).mutable_grad() = at::ones_like(weight.tensor);
  }
  run.weights()[2].tensor.grad().view({-1})[0] = std::numeric_limits<double>::infinity();
  run.optimizer.optimizer().step();
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(at::equal(run.weights()[i].tensor.detach(), before[i]));
  experiments::StepReport report;
  run.optimizer.add_to(report, 0);
  CHECK(*report.skipped_steps == 1);
}

TEST_CASE("clipping is refused if gradients are freed before their norm is known") {
  for (const char* const early : {"optimizer_in_backward=on", "offload.optimizer=host", "offload.optimizer=file"}) {
    const auto refused = run_or_refusal(params({"clip=1", early}), kCpu);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.starts_with(std::string("clip=1 cannot be combined with ") + early + ": "));
  }
}
