// The optimizer's settings in the step of each optimizer: what the formula says in float64.
#include <memory>
#include <string>
#include <vector>

#include "demos/engine/experiments/train_step_optimizer.h"
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

// The weights as the paper steps them.
std::vector<at::Tensor> by_formula(const predict::StepSettings& step, const std::vector<llama::Parameter>& weights) {
  std::vector<at::Tensor> all;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const at::Tensor start = weights[i].tensor.detach().to(at::kDouble), zero = at::zeros_like(start);
    kernels::AdamWReference at_t{.param = start, .first_moment = zero, .second_moment = zero};
    const double decay = start.dim() > 1 ? step.weight_decay : 0;
    for (int t = 1; t <= kSteps; ++t)
      at_t = kernels::adamw_reference(at_t.param, gradient_of(start, i, t), at_t.first_moment, at_t.second_moment,
                                      step.learning_rate, step.beta1, step.beta2, step.epsilon, decay, t);
    all.push_back(at_t.param);
  }
  return all;
}

// GaLore projects the gradients of the layers' matrices, so that AdamW steps the others only.
bool is_stepped_by_adamw(const predict::StepSettings& step, const llama::Parameter& weight) {
  return step.optimizer != predict::OptimizerKind::kGaLore || weight.layer == record::kNoLayer ||
         weight.tensor.dim() == 1;
}

}  // namespace

TEST_CASE("each of AdamW's numbers changes the step as the formula says, whichever optimizer steps") {
  const std::string kind = GENERATE("fused.adamw=on", "fused.adamw=off", "optimizer=adamw_8bit", "optimizer=galore",
                                    "offload.optimizer=host");
  const Settings set = GENERATE(Settings{}, Settings{"beta1=0.2"}, Settings{"beta2=0.3"}, Settings{"epsilon=0.003"},
                                Settings{"weight_decay=0.9"}, Settings{"weight_decay=0"});
  CAPTURE(kind, text_of(set));
  Stepped run(joined({kind, "learning_rate=0.01"}, set));
  const std::vector<llama::Parameter>& weights = run.weights();
  std::vector<at::Tensor> before;
  for (const llama::Parameter& weight : weights) before.push_back(weight.tensor.detach().clone());
  const std::vector<at::Tensor> exact = by_formula(run.step, weights);
  for (int t = 1; t <= kSteps; ++t) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      at::Tensor(weights[i].tensor).mutable_grad() = gradient_of(weights[i].tensor, i, t);
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
