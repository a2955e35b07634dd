// The optimizer's settings in the step of each optimizer: what the formula says in float64.
#include <array>
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
using namespace headroom::test;

constexpr int kSteps = 3;

// Its matrices are large enough for their decay to count beside their steps.
llama::Model model_of(const predict::StepSettings& step) {
  llama::Model model = llama::make_model(step.model, {}, {}, step.sequence, step.seed);
  const at::AutoGradMode grad_mode(false);
  for (const llama::Parameter& weight : llama::parameters(model))
    if (weight.tensor.dim() > 1) at::Tensor(weight.tensor).mul_(50);
  return model;
}

// A model with an optimizer by its settings, for gradients made by hand.
struct Stepped {
  explicit Stepped(const Settings& settings)
      : step(predict::step_settings(params(joined(kSmallSettings, settings)))),
        offload({.optimizer = step.offload_state != predict::StateOffload::kOff}, at::kCPU, 0),
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

// The weights as the paper steps them; step t by the learning rate rates[t − 1].
std::vector<at::Tensor> by_formula(const predict::StepSettings& step, const std::vector<llama::Parameter>& weights,
                                   const std::array<double, kSteps>& rates) {
  std::vector<at::Tensor> all;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const at::Tensor start = weights[i].tensor.detach().to(at::kDouble), zero = at::zeros_like(start);
    kernels::AdamWReference at_t{.param = start, .first_moment = zero, .second_moment = zero};
    const double decay = start.dim() > 1 ? step.weight_decay : 0;
    for (int t = 1; t <= kSteps; ++t)
      at_t = kernels::adamw_reference(at_t.param, gradient_of(start, i, t), at_t.first_moment, at_t.second_moment,
                                      rates[static_cast<std::size_t>(t - 1)], step.beta1, step.beta2, step.epsilon,
                                      decay, t);
    all.push_back(at_t.param);
  }
  return all;
}

// GaLore projects the gradients of the layers' matrices, so that AdamW steps the others only.
bool is_stepped_by_adamw(const predict::StepSettings& step, const llama::Parameter& weight) {
  return step.optimizer != predict::OptimizerKind::kGaLore || weight.layer == record::kNoLayer ||
         weight.tensor.dim() == 1;
}

// Steps by hand-made gradients, and compares.
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
  // Moments of 8 bits have two digits.
  const double tolerance = run.step.optimizer == predict::OptimizerKind::kAdamW8bit ? 0.05 : 1e-4;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!is_stepped_by_adamw(run.step, weights[i])) continue;
    CAPTURE(weights[i].name);
    const at::Tensor change = exact[i] - before[i], off = weights[i].tensor.detach() - exact[i];
    CHECK(off.norm().item<double>() < tolerance * change.norm().item<double>());
  }
}

}  // namespace

TEST_CASE("each of AdamW's numbers changes the step as the formula says, whichever optimizer steps") {
  const std::string kind = GENERATE("fused.adamw=on", "fused.adamw=off", "optimizer=adamw_8bit", "optimizer=galore",
                                    "offload.optimizer=host");
  const Settings set = GENERATE(Settings{}, Settings{"beta1=0.2"}, Settings{"beta2=0.3"}, Settings{"epsilon=0.003"},
                                Settings{"weight_decay=0.9"}, Settings{"weight_decay=0"});
  CAPTURE(kind, text_of(set));
  check_steps(joined({kind, "learning_rate=0.01"}, set), {0.01, 0.01, 0.01});
}

TEST_CASE("the learning rate follows its schedule, whichever optimizer steps") {
  const std::string kind = GENERATE("fused.adamw=on", "fused.adamw=off", "optimizer=adamw_8bit", "optimizer=galore",
                                    "offload.optimizer=host", "offload.optimizer=file");
  CAPTURE(kind);
  check_steps({kind, "learning_rate=0.04", "schedule=linear", "warmup_steps=1"}, {0, 0.04, 0.02});
  check_steps({kind, "learning_rate=0.04", "schedule=cosine", "schedule_steps=4"}, {0.04, 0.0341421356237, 0.02});
}

TEST_CASE("learning rates are those of transformers' schedules") {
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
    CHECK(refused.error().message == std::string("cuda_graph=on does not go with ") + changing +
                                         ": a graph repeats the learning rate of the recorded step.");
  }
  CHECK(run_or_refusal(params({"cuda_graph=on", "schedule=constant", "learning_rate=0.01"}), kPlanForGpu).ok());
}
