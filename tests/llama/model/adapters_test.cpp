// Adapters: the model first equals the base model, later one with weights W + α/r · B A; the adapters' bytes and plans.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "demos/engine/experiments/train_step_run.h"
#include "demos/engine/llama/model/adapters.h"
#include "demos/engine/llama/model/linear.h"
#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/train_step.h"
#include "tests/llama/allocation_log.h"
#include "tests/llama/model/small_config.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using llama::AdapterKind;
using llama::AdapterOptions;
using llama::AdapterTargets;
using llama::ProjectionKind;
using record::Bytes;
using record::Category;

const Settings kLowRank = joined(kSmallSettings, {"lora_rank=8"});
// I·O and I + O of a layer's seven projections.
constexpr std::array<std::int64_t, 7> kAreas{64 * 64, 64 * 32, 64 * 32, 64 * 64, 64 * 96, 64 * 96, 96 * 64};
constexpr std::array<std::int64_t, 7> kSides{128, 96, 96, 128, 160, 160, 160};
constexpr std::int64_t kLayers = 3, kRank = 8;

const llama::FusedKernels kFused{
    .rms_norm = true, .rope = true, .swiglu = true, .cross_entropy = true, .embedding = true};

llama::Model make(const AdapterOptions& adapters, const llama::FusedKernels& fused = {},
                  at::ScalarType type = at::kFloat) {
  return llama::make_model(kSmallConfig, fused, {.type = type}, /*seq=*/16, /*seed=*/5, /*cancel=*/nullptr,
                           {.adapters = adapters});
}

at::Tensor batch(int index = 0) {
  return llama::make_batch("Low rank is enough where the model already knows the language.", 2, 16, 1, index);
}

at::Tensor logits(const llama::Model& model) {
  const at::AutoGradMode grad_mode(false);
  at::Tensor x = llama::embedding(model.embed_tokens_VH, batch().select(0, 0), false, 0);
  for (std::int64_t i = 0; i < kLayers; ++i) x = llama::layer_forward(model, i, x);
  return x.reshape({-1, kSmallConfig.hidden_size}).mm(model.lm_head_VH.t());
}

// Makes the adapters non-trivial.
void fill_b(llama::Model& model) {
  const at::AutoGradMode grad_mode(false);
  at::manual_seed(9);
  for (llama::LayerAdapters& layer : model.adapters)
    for (llama::Adapter& adapter : layer.beside)
      if (adapter.b_OR.defined()) adapter.b_OR.normal_(0, 0.05);
}

std::array<at::Tensor*, 7> weights_of(llama::LayerWeights& w) {
  return {&w.q_proj_QH, &w.k_proj_KH, &w.v_proj_KH, &w.o_proj_HQ, &w.gate_proj_FH, &w.up_proj_FH, &w.down_proj_HF};
}

double difference(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

struct Logs {
  std::vector<Allocation> setup, third_step;
};

Logs logs(const Settings& settings, const RunPlace& place) {
  std::unique_ptr<TrainStepRun> run;
  std::vector<Allocation> setup = log_of(place, [&] { run = make_run(joined(kLowRank, settings), place); });
  return {.setup = std::move(setup), .third_step = log_of_step(*run, place, 2)};
}

struct Level {
  Bytes last = 0, peak = 0;
};

Level level(const std::vector<Allocation>& log, Category category) {
  Level result;
  std::map<std::int64_t, std::pair<Category, Bytes>> alive;
  for (const Allocation& a : log) {
    const auto found = alive.find(a.storage);
    const Bytes before = found != alive.end() && found->second.first == category ? found->second.second : 0;
    if (a.kind == Allocation::Kind::kAlloc) alive[a.storage] = {a.tag.category, a.bytes};
    if (a.kind == Allocation::Kind::kFree) alive.erase(a.storage);
    if (a.kind == Allocation::Kind::kRelabel && found != alive.end()) found->second.first = a.tag.category;
    const auto now = alive.find(a.storage);
    const Bytes after = now != alive.end() && now->second.first == category ? now->second.second : 0;
    result.last += after - before;
    result.peak = std::max(result.peak, result.last);
  }
  return result;
}

constexpr std::int64_t adapter_elements() {
  return kLayers * kRank * std::accumulate(kSides.begin(), kSides.end(), std::int64_t{0});
}
constexpr std::int64_t projection_elements() {
  return kLayers * std::accumulate(kAreas.begin(), kAreas.end(), std::int64_t{0});
}
// The (tied) embedding and the norms.
constexpr std::int64_t kOtherElements = 300 * 64 + (2 * kLayers + 1) * 64;

}  // namespace

TEST_CASE("a model with new adapters equals its base bit for bit") {
  install_allocation_log();
  const auto type = GENERATE(at::kFloat, at::kBFloat16);
  const bool fused = GENERATE(false, true);
  CAPTURE(fused, c10::toString(type));
  const llama::FusedKernels kernels = fused ? kFused : llama::FusedKernels{};
  const llama::Model base = make({}, kernels, type);
  CHECK(logits(make({.kind = AdapterKind::kLora, .rank = kRank}, kernels, type)).equal(logits(base)));
  // In four bits the base is the dequantized model.
  llama::Model rounded = make({}, kernels, type);
  {
    const at::AutoGradMode grad_mode(false);
    for (llama::LayerWeights& layer : rounded.layers)
      for (at::Tensor* weight : weights_of(layer))
        weight->copy_(kernels::nf4_dequantise(kernels::nf4_quantise(weight->detach()), type));
  }
  CHECK_FALSE(logits(rounded).equal(logits(base)));
  CHECK(logits(make({.kind = AdapterKind::kQlora, .rank = kRank}, kernels, type)).equal(logits(rounded)));
}

TEST_CASE("adapters start like PEFT's: Kaiming uniform, or Gaussian") {
  // With rank 128 a matrix has thousands of numbers.
  const auto first = [](predict::AdapterStart start) {
    const llama::Model model = make({.kind = AdapterKind::kLora, .rank = 128, .start = start});
    const llama::Adapter& down = model.adapters[1].beside[static_cast<std::size_t>(ProjectionKind::kDown)];
    CHECK(at::count_nonzero(down.b_OR).item<std::int64_t>() == 0);
    return down.a_RI.detach();
  };
  const double most = 1 / std::sqrt(96.0);  // 96 inputs
  const at::Tensor uniform = first(predict::AdapterStart::kKaiming), gaussian = first(predict::AdapterStart::kGaussian);
  CHECK(uniform.abs().max().item<double>() <= most);
  CHECK(uniform.abs().max().item<double>() > 0.99 * most);
  CHECK(uniform.std().item<double>() == Approx(most / std::sqrt(3.0)).epsilon(0.03));
  CHECK(gaussian.std().item<double>() == Approx(1 / 128.0).epsilon(0.03));
  CHECK(gaussian.abs().max().item<double>() > 3 / 128.0);
  CHECK(at::equal(first(predict::AdapterStart::kKaiming), uniform));
}

TEST_CASE("fp32 adapters of bf16 weights compute and accumulate gradients in fp32") {
  const auto kind = GENERATE(AdapterKind::kLora, AdapterKind::kQlora);
  llama::Model model = make({.kind = kind, .rank = kRank, .fp32 = true}, {}, at::kBFloat16);
  fill_b(model);
  const llama::Projection p = llama::projection(model, 1, ProjectionKind::kGate);
  REQUIRE(p.a_RI.scalar_type() == at::kFloat);
  REQUIRE(p.b_OR.scalar_type() == at::kFloat);
  const at::Tensor x = at::randn({2, 5, 64}).to(at::kBFloat16).requires_grad_(true);
  const at::Tensor dy = at::randn({2, 5, 96}).to(at::kBFloat16);
  const at::Tensor y = llama::linear(x, p, Category::kActivations);
  y.backward(dy);
  // Expected values in float64, from the bf16 values of x, W's share of y, and dy.
  const auto wide = [](const at::Tensor& t) { return t.detach().to(at::kDouble).reshape({-1, t.size(-1)}); };
  const at::Tensor weight = p.quantised ? kernels::nf4_dequantise(*p.quantised, at::kBFloat16) : p.weight_OI.detach();
  const at::Tensor base = wide(at::matmul(x.detach(), weight.t()));
  const at::Tensor a = wide(p.a_RI), b = wide(p.b_OR), low = wide(x).mm(a.t());
  CHECK(difference(wide(y), base + p.scale * low.mm(b.t())) < 1.0 / 256);  // rounded once
  CHECK(difference(wide(p.a_RI.grad()), p.scale * wide(dy).mm(b).t().mm(wide(x))) < 1e-5);
  CHECK(difference(wide(p.b_OR.grad()), p.scale * wide(dy).t().mm(low)) < 1e-5);
  CHECK(difference(wide(x.grad()), wide(dy).mm(wide(weight)) + p.scale * wide(dy).mm(b).mm(a)) < 3.0 / 256);
}

TEST_CASE("fp32 adapters of bf16 weights take four bytes in weights, gradients and moments") {
  install_allocation_log();
  const Settings lora{"precision=bf16", "adapters=lora"};
  const Logs narrow = logs(lora, kPlanForCpu), wide = logs(joined(lora, {"lora_precision=fp32"}), kPlanForCpu);
  const auto more = [&](Category category, const std::vector<Allocation>& a, const std::vector<Allocation>& b) {
    return level(b, category).peak - level(a, category).peak;
  };
  CHECK(more(Category::kWeights, narrow.setup, wide.setup) == 2 * adapter_elements());
  CHECK(more(Category::kOptimizerState, narrow.setup, wide.setup) == 2 * 2 * adapter_elements());
  CHECK(more(Category::kGradients, narrow.third_step, wide.third_step) == 2 * adapter_elements());
  // Masters would store the adapters twice.
  const Logs mixed = logs({"precision=bf16_mixed", "adapters=lora", "lora_precision=fp32"}, kPlanForCpu);
  CHECK(more(Category::kOptimizerState, wide.setup, mixed.setup) == 0);
  const Logs plain = logs({"adapters=lora"}, kPlanForCpu),
             same = logs({"adapters=lora", "lora_precision=fp32"}, kPlanForCpu);
  check_equal(plain.third_step, same.third_step);
}

TEST_CASE("plans of steps with fp32 adapters equal the CPU's, with any optimizer") {
  install_allocation_log();
  at::set_num_threads(1);
  const std::string how = GENERATE("optimizer=adamw", "optimizer=adamw_8bit", "fused.adamw=off", "rounding=stochastic",
                                   "moments=bf16", "offload.optimizer=host", "checkpointing=layer", "clip=1");
  CAPTURE(how);
  const Settings settings =
      joined(kLowRank, {"precision=bf16", "adapters=lora", "lora_precision=fp32", "learning_rate=0.01", how});
  check_equal(third_step(settings, kCpu), third_step(settings, kPlanForCpu));
  const std::vector<double> wide = losses(settings, 8), narrow = losses(joined(settings, {"lora_precision=model"}), 8);
  CHECK(wide.front() == narrow.front());
  CHECK(wide.back() == Approx(narrow.back()).epsilon(0.05));
  CHECK(wide.back() != narrow.back());
}

TEST_CASE("the adapters' gradients equal autograd's of W + α/r · B A, and nothing else has a gradient") {
  const auto kind = GENERATE(AdapterKind::kLora, AdapterKind::kQlora);
  const auto targets = GENERATE(AdapterTargets::kAll, AdapterTargets::kAttention, AdapterTargets::kMlp);
  const bool fused = GENERATE(false, true);
  const auto [every, selective] = GENERATE(std::pair(0, false), std::pair(1, false), std::pair(0, true));
  CAPTURE(static_cast<int>(kind), static_cast<int>(targets), fused, every, selective);
  const AdapterOptions options{.kind = kind, .rank = kRank, .alpha = 12, .targets = targets};
  llama::Model model = make(options, fused ? kFused : llama::FusedKernels{});
  fill_b(model);
  const llama::LossOptions loss{.path = fused ? llama::LossPath::kFlce : llama::LossPath::kPlain, .chunk = 8};
  llama::forward_backward(model, batch().select(0, 0), batch().select(0, 1),
                          {.recompute_every = every, .selective = selective, .loss = loss});

  llama::Model composed = make(options);
  fill_b(composed);
  std::vector<llama::LayerAdapters> adapters = composed.adapters;
  for (std::size_t i = 0; i < composed.layers.size(); ++i) {
    const auto weights = weights_of(composed.layers[i]);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto& quantised = adapters[i].quantised[k];
      if (quantised) *weights[k] = kernels::nf4_dequantise(*quantised, at::kFloat);
      const llama::Adapter& adapter = adapters[i].beside[k];
      if (adapter.a_RI.defined()) *weights[k] = *weights[k] + 12.0 / kRank * adapter.b_OR.mm(adapter.a_RI);
    }
  }
  composed.adapters.clear();
  llama::forward_backward(composed, batch().select(0, 0), batch().select(0, 1), {});

  const auto close = [](const at::Tensor& ours, const at::Tensor& theirs) {
    REQUIRE(ours.defined());
    CHECK(difference(ours, theirs) < 5e-5);
  };
  int count = 0;
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    for (std::size_t k = 0; k < llama::kProjectionKinds; ++k) {
      CAPTURE(i, k);
      const bool wanted = llama::has_adapter(targets, static_cast<ProjectionKind>(k));
      CHECK(model.adapters[i].beside[k].a_RI.defined() == wanted);
      if (!wanted) continue;
      close(model.adapters[i].beside[k].a_RI.grad(), adapters[i].beside[k].a_RI.grad());
      close(model.adapters[i].beside[k].b_OR.grad(), adapters[i].beside[k].b_OR.grad());
      count += 2;
    }
  }
  CHECK(count == kLayers * (targets == AdapterTargets::kAll ? 14 : targets == AdapterTargets::kAttention ? 8 : 6));
  CHECK(llama::trainable_parameters(model).size() == static_cast<std::size_t>(count));
  for (const llama::Parameter& parameter : llama::parameters(model))
    if (!parameter.tensor.requires_grad()) CHECK_FALSE(parameter.tensor.grad().defined());
}

TEST_CASE("a planned step with adapters has the CPU step's allocations, one by one and by name") {
  at::set_num_threads(1);
  const std::string adapters = GENERATE("adapters=lora", "adapters=qlora");
  const Settings switches =
      GENERATE(values<Settings>({{},
                                 {"lora_targets=attention"},
                                 {"lora_targets=mlp", "fused.swiglu=on"},
                                 {"fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.cross_entropy=on"},
                                 {"loss=flce", "loss_chunk=16", "fused.rms_norm=on", "lora_targets=mlp"},
                                 {"loss=flce", "loss_mode=lean", "loss_chunk=128"},
                                 {"checkpointing=layer", "fused.rms_norm=on", "fused.swiglu=on"},
                                 {"checkpointing=selective"},
                                 {"precision=bf16"},
                                 {"precision=bf16_mixed", "checkpointing=layer", "fused.rms_norm=on"},
                                 {"accumulate=2"},
                                 {"optimizer=adamw_8bit"},
                                 {"optimizer_in_backward=on"}}));
  CAPTURE(adapters, text_of(switches));
  const Settings settings = joined(switches, {adapters});
  const Logs real = logs(settings, kCpu), planned = logs(settings, kPlanForCpu);
  REQUIRE(real.third_step.size() > 100);
  check_equal(real.setup, planned.setup);
  if (params(settings).text("precision") == "fp32") return check_equal(real.third_step, planned.third_step);
  check_equal(real.third_step, planned.third_step);
}

TEST_CASE("adapters have the bytes of their formulas") {
  const auto bytes = [](std::int64_t elements) { return Bytes{4 * elements}; };
  const Logs lora = logs({"adapters=lora"}, kPlanForCpu), qlora = logs({"adapters=qlora"}, kPlanForCpu);
  // LoRA's weights: the whole base, and r (I + O) per projection. In QLoRA's base, a projection takes nf4_bytes().
  CHECK(level(lora.setup, Category::kWeights).last ==
        bytes(kOtherElements + projection_elements() + adapter_elements()));
  Bytes quantised = 0;
  for (const std::int64_t area : kAreas) quantised += kLayers * kernels::nf4_bytes(area);
  CHECK(level(qlora.setup, Category::kWeights).last == bytes(kOtherElements + adapter_elements()) + quantised);
  // NF4 with double quantization: 4 + 8/64 + 32/(64·256) bits per weight, and a mean per matrix.
  CHECK(kernels::nf4_bytes(2048 * 2048) == 2048 * 2048 / 2 + 65536 + 1024 + 4);
  for (const Logs* log : {&lora, &qlora}) {
    CHECK(level(log->setup, Category::kOptimizerState).last == bytes(2 * adapter_elements()));
    CHECK(level(log->third_step, Category::kGradients).peak == bytes(adapter_elements()));
  }
}

TEST_CASE("QLoRA never holds two layers' weights in the model's type") {
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer");
  const Logs qlora = logs({"adapters=qlora", checkpointing, "fused.rms_norm=on", "fused.swiglu=on"}, kPlanForCpu);
  // The peak is one copy of the largest matrix, 64 × 96; norms add some workspace.
  const Level workspace = level(qlora.third_step, Category::kWorkspace);
  CHECK(workspace.last == 0);
  CHECK(workspace.peak >= 4 * 64 * 96);
  CHECK(workspace.peak < 2 * 4 * 64 * 96);
  CHECK(level(qlora.third_step, Category::kWeights).peak == 0);
  // During construction only one layer's weights exist unquantized.
  Bytes quantised = 0;
  for (const std::int64_t area : kAreas) quantised += kernels::nf4_bytes(area);
  const Bytes layer = 4 * projection_elements() / kLayers;
  const Bytes most = 4 * kOtherElements + (kLayers - 1) * quantised + layer + quantised;
  CHECK(level(qlora.setup, Category::kWeights).peak <= std::max(most, level(qlora.setup, Category::kWeights).last));
}

TEST_CASE("a frozen linear layer keeps its input only for an adapter") {
  // L = 3 layers, N = 48 tokens, F = 96, 4 bytes.
  constexpr Bytes kProduct = 3 * 48 * 96 * 4, kLow = 3 * 48 * kRank * 4;
  const auto kept = [](const char* targets, const char* op) {
    return kept_by(logs({"adapters=lora", targets}, kPlanForCpu).third_step, op);
  };
  CHECK(kept("lora_targets=all", "mlp.product") == kProduct);
  CHECK(kept("lora_targets=attention", "mlp.product") == 0);
  CHECK(kept("lora_targets=all", "mlp.down_proj") == kLow);
  CHECK(kept("lora_targets=attention", "mlp.down_proj") == 0);
}

TEST_CASE("backward of a fused norm recomputes only the input of adapters") {
  const auto made_in_backward = [](const char* targets, const char* op) {
    const Logs lora = logs({"adapters=lora", targets, "fused.rms_norm=on", "fused.swiglu=on"}, kPlanForCpu);
    return std::ranges::count_if(lora.third_step, [op](const Allocation& a) {
      return a.kind == Allocation::Kind::kAlloc && a.tag.phase == record::Phase::kBackward &&
             a.tag.category == Category::kActivations && record::operator_name(a.tag.op) == op;
    });
  };
  // Per layer: the rebuilt norm, and its gradient.
  CHECK(made_in_backward("lora_targets=attention", "attention.rms_norm") == 2 * kLayers);
  CHECK(made_in_backward("lora_targets=mlp", "attention.rms_norm") == kLayers);
}
