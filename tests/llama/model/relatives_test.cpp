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

// The formulas with plain float64 operators and autograd.
class Reference {
 public:
  explicit Reference(const llama::Model& model) : c_(model.config) {
    for (const llama::Parameter& p : llama::parameters(model))
      weights_[p.name] = p.tensor.detach().to(at::kDouble).requires_grad_(true);
  }

  Named gradients() {
    at::Tensor x = weight("model.embed_tokens.weight").index_select(0, batch().select(0, 0).reshape({-1}));
    x = x.view({2, kSeq, -1});
    for (std::int64_t i = 0; i < c_.num_layers; ++i) x = layer(x, "model.layers." + std::to_string(i) + ".");
    const at::Tensor logits = norm(x, "model.norm.weight").matmul(weight("model.embed_tokens.weight").t());
    at::nll_loss(at::log_softmax(logits.view({-1, c_.vocab_size}), -1), batch().select(0, 1).reshape({-1})).backward();
    Named all;
    for (const auto& [name, each] : weights_) all[name] = each.grad();
    return all;
  }

 private:
  at::Tensor weight(const std::string& name) const { return weights_.at(name); }

  at::Tensor norm(const at::Tensor& x, const std::string& name) const {
    return weight(name) * x / at::sqrt((x * x).mean(-1, true) + c_.rms_norm_eps);
  }

  at::Tensor projected(const at::Tensor& x, const std::string& name) const {
    const at::Tensor y = x.matmul(weight(name + ".weight").t());
    const auto bias = weights_.find(name + ".bias");
    return bias == weights_.end() ? y : y + bias->second;
  }

  // Maps [B, T, heads · D] to [B, A, T, D], rotated by position if `turns`.
  at::Tensor heads(const at::Tensor& x, std::int64_t count, const std::string& norm_name, bool turns) const {
    at::Tensor y = x.view({2, kSeq, count, c_.head_dim});
    if (turns && weights_.contains(norm_name)) y = norm(y, norm_name);
    y = y.transpose(1, 2);
    if (turns) {
      const std::vector<float> frequencies = llama::rope_frequencies(c_);
      const at::Tensor angle =
          at::arange(kSeq, at::kDouble).unsqueeze(1) * at::tensor(frequencies).to(at::kDouble).unsqueeze(0);
      const at::Tensor a = y.narrow(-1, 0, c_.head_dim / 2), b = y.narrow(-1, c_.head_dim / 2, c_.head_dim / 2);
      y = at::cat({a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()}, -1);
    }
    return y.repeat_interleave(c_.num_heads / count, 1);
  }

  at::Tensor layer(const at::Tensor& x, const std::string& at) const {
    const at::Tensor in = norm(x, at + "input_layernorm.weight");
    const std::string self = at + "self_attn.";
    const at::Tensor q = heads(projected(in, self + "q_proj"), c_.num_heads, self + "q_norm.weight", true);
    const at::Tensor k = heads(projected(in, self + "k_proj"), c_.num_kv_heads, self + "k_norm.weight", true);
    const at::Tensor v = heads(projected(in, self + "v_proj"), c_.num_kv_heads, "", false);
    const at::Tensor future = at::ones({kSeq, kSeq}, at::kBool).triu(1);
    const at::Tensor scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(c_.head_dim));
    const at::Tensor mixed = at::softmax(scores.masked_fill(future, -INFINITY), -1).matmul(v);
    const at::Tensor sum = x + projected(mixed.transpose(1, 2).reshape({2, kSeq, -1}), self + "o_proj");
    const at::Tensor mlp = norm(sum, at + "post_attention_layernorm.weight");
    const at::Tensor gated = at::silu(projected(mlp, at + "mlp.gate_proj")) * projected(mlp, at + "mlp.up_proj");
    return sum + projected(gated, at + "mlp.down_proj");
  }

  llama::Config c_;
  Named weights_;
};

}  // namespace

TEST_CASE("gradients of biases and of norms over heads equal the formulas") {
  const auto which = GENERATE(range(std::size_t{0}, kRelatives.size()));
  const llama::Config& config = kRelatives[which];
  const Named expected = Reference(make(config)).gradients();
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
