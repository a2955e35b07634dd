// Small training steps, made by hand.
#include "tests/gui/support/small_run.h"

#include <string>

namespace headroom::tests {

using namespace record;

namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;

class Writer {
 public:
  explicit Writer(std::shared_ptr<Recording> recording) : recording_(std::move(recording)) {}

  std::uint64_t alloc(Category category, std::uint16_t op, Bytes bytes) {
    event(EventKind::kAlloc, ++last_, category, op, bytes);
    return last_;
  }
  void free(std::uint64_t storage, Category category, std::uint16_t op, Bytes bytes) {
    event(EventKind::kFree, storage, category, op, bytes);
  }
  void mark(Phase phase, int step, std::uint16_t layer = kNoLayer) {
    phase_ = phase;
    layer_ = layer;
    time_ += kMillisecond / 10;
    const Mark at{.host_time = time_,
                  .device_time = time_,
                  .event_index = recording_->events().size(),
                  .step = step,
                  .phase = phase,
                  .layer = layer,
                  .micro_batch = 0};
    recording_->append(std::span(&at, 1));
  }
  void metric(MetricKind kind, double value, int step) {
    recording_->append(MetricSample{.time = time_, .value = value, .step = step, .kind = kind});
  }
  void fail(std::uint16_t op, Bytes bytes) { event(EventKind::kOutOfMemory, 0, Category::kLogits, op, bytes); }
  Phase phase() const { return phase_; }

 private:
  void event(EventKind kind, std::uint64_t storage, Category category, std::uint16_t op, Bytes bytes) {
    time_ += kMillisecond;
    MemEvent e;
    e.time = time_;
    e.storage = storage;
    e.requested = bytes;
    e.block = kind == EventKind::kOutOfMemory ? 0 : bytes;
    e.kind = kind;
    e.device = recording_->info().device;
    e.category = category;
    e.phase = phase_;
    e.layer = layer_;
    e.op = op;
    recording_->append(std::span(&e, 1));
  }

  std::shared_ptr<Recording> recording_;
  Nanoseconds time_ = 0;
  std::uint64_t last_ = 0;
  Phase phase_ = Phase::kSetup;
  std::uint16_t layer_ = kNoLayer;
};

enum Op : std::uint16_t {
  kEmbedding = 1,
  kProducts,
  kMoments,
  kKept,
  kScratch,
  kLogitsOp,
  kLossGradient,
  kWeightGradient
};

RunInfo info_of(const SmallRun& shape) {
  RunInfo info;
  info.demo = "train_step";
  info.params = {{"model", "tiny"},     {"batch", "4"},           {"seq", "256"},
                 {"precision", "fp32"}, {"checkpointing", "off"}, {"device", "cpu"}};
  info.provenance = {{"cpu", "test machine"}, {"torch", "none"}};
  info.source = shape.source;
  info.device = shape.device;
  info.device_memory = 8 * kGiB;
  if (shape.out_of_memory) info.cap = peak_of(shape) - shape.logits / 2;
  return info;
}

}  // namespace

Bytes peak_of(const SmallRun& shape) { return 3 * shape.weights + shape.layers * shape.activations + 2 * shape.logits; }

std::shared_ptr<Recording> small_run(const SmallRun& shape) {
  auto recording = std::make_shared<Recording>(info_of(shape));
  const std::vector<std::string> operators{
      "embedding",   "linear",      "adamw.moments",          "mlp.gate",
      "mlp.scratch", "head.logits", "cross_entropy.gradient", "linear.weight_gradient"};
  recording->append_operators(1, operators);
  Writer w(recording);
  w.mark(Phase::kSetup, -1);
  w.alloc(Category::kWeights, kEmbedding, shape.weights / 2);
  w.alloc(Category::kWeights, kProducts, shape.weights / 2);
  w.alloc(Category::kOptimizerState, kMoments, shape.weights);
  w.alloc(Category::kOptimizerState, kMoments, shape.weights);
  for (int step = 0; step < shape.steps; ++step) {
    const bool fails = shape.out_of_memory && step + 1 == shape.steps;
    std::vector<std::uint64_t> kept, gradients;
    for (int layer = 0; layer < shape.layers; ++layer) {
      w.mark(Phase::kForward, step, static_cast<std::uint16_t>(layer));
      kept.push_back(w.alloc(Category::kActivations, kKept, shape.activations));
      for (int i = 0; i < shape.extra_events / 2; ++i)
        w.free(w.alloc(Category::kWorkspace, kScratch, kMiB), Category::kWorkspace, kScratch, kMiB);
    }
    w.mark(Phase::kLoss, step);
    const std::uint64_t logits = w.alloc(Category::kLogits, kLogitsOp, shape.logits);
    if (fails) {
      w.fail(kLossGradient, shape.logits);
      OutOfMemoryFacts facts;
      facts.requested = shape.logits;
      facts.allocated = facts.reserved = peak_of(shape) - shape.logits;
      facts.limit = recording->info().cap;
      facts.op = "cross_entropy.gradient";
      facts.phase = Phase::kLoss;
      recording->set_outcome({OutcomeKind::kOutOfMemory, "The run ran out of memory.", facts});
      return recording;
    }
    const std::uint64_t gradient = w.alloc(Category::kLogits, kLossGradient, shape.logits);
    w.mark(Phase::kBackward, step);
    w.free(logits, Category::kLogits, kLogitsOp, shape.logits);
    w.free(gradient, Category::kLogits, kLossGradient, shape.logits);
    for (int layer = shape.layers - 1; layer >= 0; --layer) {
      w.mark(Phase::kBackward, step, static_cast<std::uint16_t>(layer));
      gradients.push_back(w.alloc(Category::kGradients, kWeightGradient, shape.weights / shape.layers));
      w.free(kept[static_cast<std::size_t>(layer)], Category::kActivations, kKept, shape.activations);
    }
    w.mark(Phase::kOptimizer, step);
    for (const std::uint64_t id : gradients)
      w.free(id, Category::kGradients, kWeightGradient, shape.weights / shape.layers);
    w.mark(Phase::kSetup, -1);
    w.metric(MetricKind::kLoss, 8.5 - step, step);
    w.metric(MetricKind::kTokensPerSecond, 4200, step);
  }
  recording->set_outcome({});
  return recording;
}

}  // namespace headroom::tests
