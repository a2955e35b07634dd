// Forward and backward with techniques: gradients, hooks, and checkpoints stored elsewhere.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "demos/engine/llama/model/weights/unmade.h"
#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/llama/config.h"
#include "tests/support/catch.h"

using namespace headroom;
using record::Phase;

TEST_CASE("every gradient of a step with a technique equals the plain step's") {
  const std::int64_t seq = 16, samples = 4;
  const at::Tensor tokens = llama::make_batch("To be, or not to be, that is the question.", samples, seq, 0, 0);
  const auto gradients = [&](const llama::FusedKernels& fused, const llama::TrainOptions& options) {
    const llama::Model model = llama::make_model(*llama::find_config("tiny"), fused, {}, seq, /*seed=*/3);
    llama::forward_backward(model, tokens.select(0, 0), tokens.select(0, 1), options);
    std::vector<at::Tensor> result;
    for (const llama::Parameter& parameter : llama::parameters(model)) result.push_back(parameter.tensor.grad());
    return result;
  };
  const std::vector<at::Tensor> plain = gradients({}, {});
  const std::vector<std::pair<llama::FusedKernels, llama::TrainOptions>> techniques{
      {{}, {.recompute_every = 3}},
      {{}, {.selective = true}},
      {{.attention = llama::Attention::kEager}, {}},
      {{.attention = llama::Attention::kEager}, {.selective = true}},
      {{}, {.micro_batches = 4}},
      {{.embedding = true}, {.loss = {.path = llama::LossPath::kFlce, .chunk = 8}, .micro_batches = 2}},
      // Losses of AdamW's steps would hide a wrong scale of all gradients. Powers of two cause no rounding.
      {{}, {.loss_scale = at::full({}, 1024.0F)}},
      {{}, {.loss_scale = at::full({}, 1024.0F), .micro_batches = 4}},
      {{}, {.loss = {.path = llama::LossPath::kFlce, .chunk = 8}, .loss_scale = at::full({}, 1024.0F)}},
      {{},
       {.loss = {.path = llama::LossPath::kFlce, .chunk = 8}, .loss_scale = at::full({}, 1024.0F), .micro_batches = 4}},
  };
  for (std::size_t t = 0; t < techniques.size(); ++t) {
    const at::Tensor& scale = techniques[t].second.loss_scale;
    std::vector<at::Tensor> other = gradients(techniques[t].first, techniques[t].second);
    if (scale.defined())
      for (at::Tensor& gradient : other) gradient = gradient / scale;
    REQUIRE(other.size() == plain.size());
    for (std::size_t i = 0; i < other.size(); ++i) {
      CAPTURE(t, i);
      REQUIRE(other[i].defined());
      CHECK((other[i] - plain[i]).abs().max().item<double>() < 2e-5 * plain[i].abs().max().item<double>());
    }
  }
}

TEST_CASE("recomputed layers change no bit of the loss or of a gradient") {
  llama::Config small = *llama::find_config("tiny");  // the text's bytes need only 256 ids
  small.vocab_size = 256;
  small.intermediate_size = 192;
  const std::int64_t seq = 16, samples = 4;
  const at::Tensor tokens = llama::make_batch("To be, or not to be, that is the question.", samples, seq, 0, 0);
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16);
  const auto fused = GENERATE(llama::FusedKernels{}, llama::FusedKernels{.swiglu = true},
                              llama::FusedKernels{.rms_norm = true, .rope = true, .swiglu = true},
                              llama::FusedKernels{.rms_norm = true, .swiglu = true, .keep = true});
  const auto adapters = GENERATE(llama::AdapterKind::kOff, llama::AdapterKind::kLora, llama::AdapterKind::kQlora);
  const auto targets = adapters == llama::AdapterKind::kOff
                           ? llama::AdapterTargets::kAll
                           : GENERATE(llama::AdapterTargets::kAll, llama::AdapterTargets::kAttention);
  CAPTURE(type, fused.rms_norm, fused.swiglu, fused.keep, static_cast<int>(adapters), static_cast<int>(targets));
  const auto run = [&](const llama::TrainOptions& options) {
    const llama::Model model = llama::make_model(small, fused, {.type = type}, seq, /*seed=*/3, /*cancel=*/nullptr,
                                                 {.adapters = {.kind = adapters, .rank = 4, .targets = targets}});
    // With the initial B = 0, A's gradient would be 0.
    for (const llama::LayerAdapters& layer : model.adapters)
      for (const llama::Adapter& each : layer.beside)
        if (each.b_OR.defined()) each.b_OR.detach().fill_(0.5);
    std::vector<at::Tensor> result{llama::forward_backward(model, tokens.select(0, 0), tokens.select(0, 1), options)};
    for (const llama::Parameter& parameter : llama::trainable_parameters(model))
      result.push_back(parameter.tensor.grad());
    return result;
  };
  const std::vector<at::Tensor> plain = run({});
  for (const std::int64_t every : {1, 3, 4}) {
    const std::vector<at::Tensor> again = run({.recompute_every = every});
    REQUIRE(again.size() == plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      CAPTURE(every, i);
      REQUIRE(again[i].defined());
      CHECK(plain[i].count_nonzero().item<std::int64_t>() > 0);
      CHECK(at::equal(again[i], plain[i]));
    }
  }
}

TEST_CASE("an unmade tensor has a shape and a gradient but cannot be read") {
  const at::Tensor a = at::ones({2, 3}, at::kBFloat16).requires_grad_(true), b = at::ones({2, 3}, at::kBFloat16);
  const at::Tensor sum = llama::unmade_sum(a, b);
  CHECK(sum.sizes() == a.sizes());
  CHECK(sum.scalar_type() == at::kBFloat16);
  CHECK(sum.storage().nbytes() == 0);
  CHECK_THROWS(sum.sum());
  CHECK_THROWS(a + sum);
  const at::Tensor gradient = at::full({2, 3}, 2, at::kBFloat16);
  sum.backward(gradient);
  CHECK(at::equal(a.grad(), gradient));
  CHECK_THROWS(llama::unmade_sum(a, at::ones({3})));
}

TEST_CASE("hooks are called for each layer, also in segments") {
  struct Heard final : llama::LayerHooks {
    std::string calls;
    void note(char what, std::int64_t layer) { calls += what + std::to_string(layer) + ' '; }
    void before_layer(std::int64_t layer, Phase phase) override {
      note(phase == Phase::kForward ? 'f' : phase == Phase::kBackward ? 'w' : 'r', layer);
    }
    void after_layer(std::int64_t layer, Phase phase) override {
      if (phase == Phase::kBackward) note('b', layer);
    }
    void gradients_ready(std::int64_t layer) override { note('g', layer); }
  };
  const auto calls = [](llama::TrainOptions options) {
    Heard heard;
    options.hooks = {&heard};
    const llama::Model model = llama::make_model(*llama::find_config("tiny"), {}, {}, 8, 0);
    const at::Tensor tokens = llama::make_batch("some text", 2, 8, 0, 0);
    llama::forward_backward(model, tokens.select(0, 0), tokens.select(0, 1), options);
    return heard.calls;
  };
  CHECK(calls({}) == "f0 f1 f2 f3 w3 b3 g3 w2 b2 g2 w1 b1 g1 w0 b0 g0 g-1 ");
  CHECK(calls({.recompute_every = 1}) == "f0 f1 f2 f3 r3 b3 g3 r2 b2 g2 r1 b1 g1 r0 b0 g0 g-1 ");
  CHECK(calls({.recompute_every = 3}) == "f0 f1 f2 f3 r3 b3 g3 r0 r1 r2 b2 g2 b1 g1 b0 g0 g-1 ");
  CHECK(calls({.micro_batches = 2}) ==
        "f0 f1 f2 f3 w3 b3 w2 b2 w1 b1 w0 b0 f0 f1 f2 f3 w3 b3 g3 w2 b2 g2 w1 b1 g1 w0 b0 g0 g-1 ");
}

TEST_CASE("checkpoints may be stored elsewhere between forward and backward") {
  struct Store final : llama::CheckpointStore {
    std::map<std::int64_t, at::Tensor> kept;
    std::size_t most = 0;
    void keep(std::int64_t segment, const at::Tensor& x) override {
      kept[segment] = x.clone();
      most = std::max(most, kept.size());
    }
    at::Tensor take(std::int64_t segment) override {
      const at::Tensor x = kept.at(segment);
      kept.erase(segment);
      return x;
    }
  } store;
  const at::Tensor tokens = llama::make_batch("some text", 2, 8, 0, 0);
  const auto gradient = [&](const llama::TrainOptions& options) {
    const llama::Model model = llama::make_model(*llama::find_config("tiny"), {}, {}, 8, 0);
    llama::forward_backward(model, tokens.select(0, 0), tokens.select(0, 1), options);
    return model.layers[0].q_proj_QH.grad();
  };
  const llama::TrainOptions kept{.recompute_every = 2};
  llama::TrainOptions stored = kept;
  stored.checkpoints = &store;
  CHECK(at::equal(gradient(stored), gradient(kept)));
  CHECK(store.most == 2);
  CHECK(store.kept.empty());
}
