// One pass forward and backward with techniques: every gradient, what hooks hear, and checkpoints that are elsewhere.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/llama/config.h"
#include "tests/support/catch.h"

using namespace headroom;
using record::Phase;

TEST_CASE("every gradient of a step with a technique is that of the plain one") {
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
      {{}, {.checkpointing = llama::Checkpointing::kLayer, .checkpoint_every = 3}},
      {{}, {.checkpointing = llama::Checkpointing::kSelective}},
      {{.attention = llama::Attention::kEager}, {}},
      {{.attention = llama::Attention::kEager}, {.checkpointing = llama::Checkpointing::kSelective}},
      {{}, {.micro_batches = 4}},
      {{.embedding = true}, {.loss = {.path = llama::LossPath::kFlce, .chunk = 8}, .micro_batches = 2}},
      // A wrong scale of all gradients changes no loss under AdamW: here it is seen. Powers of two round nothing.
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

TEST_CASE("hooks hear of each layer, in segments too") {
  struct Heard final : llama::LayerHooks {
    std::string calls;
    void note(char what, std::int64_t layer) { calls += what + std::to_string(layer) + ' '; }
    void before_layer(std::int64_t layer, Phase phase) override { note(phase == Phase::kForward ? 'f' : 'r', layer); }
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
  CHECK(calls({}) == "f0 f1 f2 f3 b3 g3 b2 g2 b1 g1 b0 g0 g-1 ");
  CHECK(calls({.checkpointing = llama::Checkpointing::kLayer}) ==
        "f0 f1 f2 f3 r3 b3 g3 r2 b2 g2 r1 b1 g1 r0 b0 g0 g-1 ");
  CHECK(calls({.checkpointing = llama::Checkpointing::kLayer, .checkpoint_every = 3}) ==
        "f0 f1 f2 f3 r3 b3 g3 r0 r1 r2 b2 g2 b1 g1 b0 g0 g-1 ");
  CHECK(calls({.micro_batches = 2}) == "f0 f1 f2 f3 b3 b2 b1 b0 f0 f1 f2 f3 b3 g3 b2 g2 b1 g1 b0 g0 g-1 ");
}

TEST_CASE("checkpoints may be elsewhere between forward and backward") {
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
  const llama::TrainOptions kept{.checkpointing = llama::Checkpointing::kLayer, .checkpoint_every = 2};
  llama::TrainOptions stored = kept;
  stored.checkpoints = &store;
  CHECK(at::equal(gradient(stored), gradient(kept)));
  CHECK(store.most == 2);
  CHECK(store.kept.empty());
}
