// Llama's relatives with biases and norms over heads: gradients against float64, and learning of every weight.
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/experiments/train_step_optimizer.h"
#include "demos/engine/llama/host/offload.h"
#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/train_step.h"
#include "tests/llama/model/float64_model.h"
#include "tests/llama/model/relatives.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using llama::AdapterKind;
using llama::Checkpointing;

constexpr std::int64_t kSeq = 16;
const llama::FusedKernels kAllFused{
    .rms_norm = true, .rope = true, .swiglu = true, .cross_entropy = true, .embedding = true};

at::Tensor batch() { return llama::make_batch("What is past is prologue.", 2, kSeq, 0, 0); }

// No bias is 0 and no norm 1; weights are equal for every technique.
llama::Model make(const llama::Config& config, const llama::FusedKernels& fused = {},
                  const llama::AdapterOptions& adapters = {}) {
  llama::Model model = llama::make_model(config, fused, {}, kSeq, /*seed=*/5, nullptr, {.adapters = adapters});
  const at::AutoGradMode grad_mode(false);
  at::manual_seed(11);
  for (const llama::Parameter& p : llama::parameters(model)) {
    if (p.name.find("lora") != std::string::npos) continue;
    const at::Tensor drawn = at::randn(p.tensor.sizes());
    const bool bias = p.name.ends_with(".bias");
    p.tensor.copy_(bias ? 0.3 * drawn : p.tensor.dim() == 1 ? 1 + 0.2 * drawn : 0.1 * drawn);
  }
  return model;
}

using Named = std::map<std::string, at::Tensor>;

Named gradients(const llama::Model& model, const llama::TrainOptions& options = {}) {
  llama::forward_backward(model, batch().select(0, 0), batch().select(0, 1), options);
  Named all;
  for (const llama::Parameter& p : llama::parameters(model)) all[p.name] = p.tensor.grad();
  return all;
}

Named gradients_in_float64(const llama::Model& model) {
  Float64Model reference(model);
  reference.backward(batch());
  Named all;
  for (const auto& [name, weight] : reference.weights()) all[name] = weight.grad();
  return all;
}

}  // namespace

TEST_CASE("gradients of biases and of norms over heads equal the formulas") {
  const auto which = GENERATE(range(std::size_t{0}, kRelatives.size()));
  const llama::Config& config = kRelatives[which];
  const Named expected = gradients_in_float64(make(config));
  const std::vector<std::pair<llama::FusedKernels, llama::TrainOptions>> techniques{
      {{}, {}},
      {kAllFused, {}},
      {{.rms_norm = true}, {}},
      {{.rope = true}, {}},
      {{.attention = llama::Attention::kEager}, {}},
      {{.rms_norm = true, .rope = true, .attention = llama::Attention::kEager}, {}},
      {{}, {.recompute_every = 2}},
      {kAllFused, {.recompute_every = 1}},
      {{}, {.selective = true}},
      {{.rope = true, .attention = llama::Attention::kEager}, {.selective = true}},
  };
  for (std::size_t t = 0; t < techniques.size(); ++t) {
    const Named found = gradients(make(config, techniques[t].first), techniques[t].second);
    REQUIRE(found.size() == expected.size());
    for (const auto& [name, gradient] : expected) {
      CAPTURE(which, t, name);
      REQUIRE(found.at(name).defined());
      CHECK(found.at(name).sizes() == gradient.sizes());
      const double largest = gradient.abs().max().item<double>();
      CHECK(largest > 0);
      CHECK((found.at(name) - gradient).abs().max().item<double>() < 2e-4 * largest);
    }
  }
}

TEST_CASE("only adapters are trained on projections with biases") {
  const bool fused = GENERATE(false, true);
  const llama::Config& config = kRelatives.back();
  const llama::FusedKernels kernels = fused ? kAllFused : llama::FusedKernels{};
  const Named base = gradients(make(config, kernels));
  const llama::Model model = make(config, kernels, {.kind = AdapterKind::kLora, .rank = 8, .alpha = 16});
  CHECK(llama::trainable_parameters(model).size() == 2 * llama::kProjectionKinds * model.layers.size());
  const Named found = gradients(model);
  for (const llama::Parameter& p : llama::parameters(model)) {
    CAPTURE(fused, p.name);
    if (!p.name.ends_with(".lora_B.weight")) continue;
    // B is initially 0, so dB = α/r · dW Aᵀ with the base model's dW.
    const std::string projection = p.name.substr(0, p.name.size() - std::string(".lora_B.weight").size());
    at::Tensor a_RI;
    for (const llama::Parameter& other : llama::parameters(model))
      if (other.name == projection + ".lora_A.weight") a_RI = other.tensor.detach();
    const at::Tensor expected = 2 * base.at(projection + ".weight").mm(a_RI.t());
    CHECK((found.at(p.name) - expected).abs().max().item<double>() < 2e-4 * expected.abs().max().item<double>());
  }
  for (const auto& [name, gradient] : found) CHECK(gradient.defined() == (name.find("lora") != std::string::npos));
}

TEST_CASE("every weight of a relative learns with every technique") {
  const Settings technique =
      GENERATE(Settings{"optimizer=adamw"}, Settings{"fused.adamw=off"}, Settings{"optimizer=adamw_8bit"},
               Settings{"optimizer=galore", "galore_rank=4"}, Settings{"optimizer_in_backward=on"},
               Settings{"offload.optimizer=host"}, Settings{"offload.optimizer=host", "offload.parameters=on"});
  CAPTURE(text_of(technique));
  const predict::StepSettings step = predict::step_settings(params(technique));
  const llama::Config& config = kRelatives.back();
  llama::TrainOptions options{.recompute_every = 1};
  llama::Offload offload(
      {.parameters = step.offload.parameters, .optimizer = step.offload.state != predict::StateOffload::kOff}, at::kCPU,
      0);
  llama::Model model =
      llama::make_model(config, {}, {}, kSeq, /*seed=*/5, nullptr, {.layer_made = offload.layer_made(config, options)});
  offload.install(model, 2, kSeq, options);
  experiments::StepOptimizer optimizer(step, model, offload, options);
  Named before;
  for (const llama::Parameter& p : llama::parameters(model)) before[p.name] = p.tensor.detach().clone();
  CHECK(before.size() == llama::weight_shapes(config).size());
  for (int i = 0; i < 3; ++i) llama::train_step(model, optimizer.optimizer(), batch(), options, i);
  for (const llama::Parameter& p : llama::parameters(model)) {
    CAPTURE(p.name);
    CHECK_FALSE(at::equal(p.tensor.detach(), before.at(p.name)));
    CHECK(at::isfinite(p.tensor.detach()).all().item<bool>());
  }
}
