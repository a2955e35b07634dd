// Recordings made by hand.
#include "tests/cli/support/recordings.h"

#include <array>
#include <vector>

namespace headroom::tests {

using namespace record;

namespace {

// Appends events and marks, 1 µs per event, and tracks the allocator's total like a probe.
class Builder {
 public:
  explicit Builder(RunInfo info) : recording_(std::move(info)) {
    const std::array<std::string, 2> names{"mlp.up_proj", "lm_head"};
    recording_.append_operators(1, names);
  }

  void mark(std::int32_t step, Phase phase, std::uint16_t layer = kNoLayer) {
    phase_ = phase;
    layer_ = layer;
    const Mark mark{time_, time_, recording_.events().size(), step, phase, layer, 0};
    recording_.append(std::array{mark});
  }

  std::uint64_t allocate(Category category, Bytes bytes, std::uint16_t op = kNoOperator) {
    allocated_ += bytes;
    push(EventKind::kAlloc, ++last_storage_, bytes, category, op);
    return last_storage_;
  }

  void free(std::uint64_t storage, Category category, Bytes bytes) {
    allocated_ -= bytes;
    push(EventKind::kFree, storage, bytes, category, kNoOperator);
  }

  void refuse(Bytes bytes) { push(EventKind::kOutOfMemory, 0, bytes, Category::kLogits, 2); }

  void metric(MetricKind kind, std::int32_t step, double value) {
    recording_.append(MetricSample{time_, value, step, kind});
  }

  Recording finish(Outcome outcome) {
    recording_.set_outcome(std::move(outcome));
    return std::move(recording_);
  }

 private:
  void push(EventKind kind, std::uint64_t storage, Bytes bytes, Category category, std::uint16_t op) {
    MemEvent event;
    event.time = time_ += 1000;
    event.storage = storage;
    event.requested = bytes;
    event.block = kind == EventKind::kOutOfMemory ? 0 : bytes;
    event.allocator_allocated = allocated_;
    event.kind = kind;
    event.category = category;
    event.phase = phase_;
    event.layer = layer_;
    event.op = op;
    recording_.append(std::array{event});
  }

  Recording recording_;
  Nanoseconds time_ = 0;
  Bytes allocated_ = 0;
  std::uint64_t last_storage_ = 0;
  Phase phase_ = Phase::kSetup;
  std::uint16_t layer_ = kNoLayer;
};

RunInfo info() {
  RunInfo info;
  info.demo = "train_step";
  info.params = {{"model", "tiny"}, {"batch", "2"}, {"seq", "64"}};
  info.provenance = {{"device", "CPU, 2 cores"}, {"torch", "2.11.0"}, {"revision", "0123456789ab"}};
  info.device_memory = 8 * kGiB;
  info.source = Source::kRecorded;
  return info;
}

void set_up(Builder& build) {
  build.mark(-1, Phase::kSetup);
  build.allocate(Category::kWeights, 4 * kMiB);
  build.allocate(Category::kOptimizerState, 8 * kMiB);
}

std::array<std::uint64_t, 2> forward(Builder& build, std::int32_t step) {
  std::array<std::uint64_t, 2> activations{};
  for (std::uint16_t layer = 0; layer < 2; ++layer) {
    build.mark(step, Phase::kForward, layer);
    activations[layer] = build.allocate(Category::kActivations, 2 * kMiB, 1);
  }
  build.mark(step, Phase::kLoss);
  return activations;
}

}  // namespace

Recording small_recording() {
  Builder build(info());
  set_up(build);
  for (std::int32_t step = 0; step < 2; ++step) {
    build.mark(step, Phase::kSetup);
    const auto activations = forward(build, step);
    const std::uint64_t logits = build.allocate(Category::kLogits, 16 * kMiB, 2);
    build.mark(step, Phase::kBackward);
    build.free(logits, Category::kLogits, 16 * kMiB);
    const std::uint64_t gradients = build.allocate(Category::kGradients, 4 * kMiB);
    for (const std::uint64_t each : activations) build.free(each, Category::kActivations, 2 * kMiB);
    build.mark(step, Phase::kOptimizer);
    build.free(gradients, Category::kGradients, 4 * kMiB);
    build.mark(-1, Phase::kSetup);
    build.metric(MetricKind::kLoss, step, step == 0 ? 5.5 : 5.25);
    build.metric(MetricKind::kTokensPerSecond, step, step == 0 ? 100 : 200);
  }
  return build.finish({});
}

Recording out_of_memory_recording() {
  RunInfo capped = info();
  capped.cap = 24 * kMiB;
  Builder build(capped);
  set_up(build);
  build.mark(0, Phase::kSetup);
  forward(build, 0);
  build.refuse(16 * kMiB);
  OutOfMemoryFacts facts;
  facts.requested = 16 * kMiB;
  facts.allocated = 16 * kMiB;
  facts.limit = 24 * kMiB;
  facts.op = "lm_head";
  facts.phase = Phase::kLoss;
  facts.by_category = {4 * kMiB, 8 * kMiB, 0, 4 * kMiB, 0, 0, 0};
  return build.finish({OutcomeKind::kOutOfMemory, "Out of memory in the loss.", facts});
}

Recording large_recording(std::uint64_t events) {
  constexpr std::uint16_t kLayers = 100;
  Builder build(info());
  set_up(build);
  build.mark(0, Phase::kSetup);
  const std::uint64_t per_layer = events / (2 * kLayers) + 1;
  std::vector<std::uint64_t> alive;
  for (std::uint16_t layer = 0; layer < kLayers; ++layer) {
    build.mark(0, Phase::kForward, layer);
    for (std::uint64_t i = 0; i < per_layer; ++i)
      alive.push_back(build.allocate(Category::kActivations, 512 * static_cast<Bytes>(1 + i % 7), 1));
  }
  build.mark(0, Phase::kBackward);
  for (std::size_t i = alive.size(); i-- > 0;)
    build.free(alive[i], Category::kActivations, 512 * static_cast<Bytes>(1 + (i % per_layer) % 7));
  build.mark(-1, Phase::kSetup);
  return build.finish({});
}

}  // namespace headroom::tests
