// A small training run: two layers, all categories and phases, known shapes, on a CPU or (with device times, segments
// and rounding) on a GPU. Always the same.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demos/record/recording.h"

namespace headroom::tests {

struct MadeRun {
  record::DeviceKind device = record::DeviceKind::kCpu;
  int steps = 3;
  bool checkpointing = false;
  bool out_of_memory = false;  // step 1, with optimizer states, exceeds the cap
  bool finished = true;        // false: stops in the last backward pass, without outcome
  bool every_row = false;      // adds all other kinds of rows
};

// Shapes: B 4, T 128, H 64, F 176, V 256, 2 layers, fp32.
inline constexpr record::Bytes kMadeHidden = 4 * 128 * 64 * 4;                          // [B, T, H]: 128 KiB
inline constexpr record::Bytes kMadeFeedForward = 4 * 128 * 176 * 4;                    // [B, T, F]: 352 KiB
inline constexpr record::Bytes kMadeLogits = 4 * 128 * 256 * 4;                         // [B, T, V]: 512 KiB
inline constexpr record::Bytes kMadeEmbedding = 256 * 64 * 4;                           // [V, H]: 64 KiB
inline constexpr record::Bytes kMadeLayer = (4 * 64 * 64 + 3 * 64 * 176 + 2 * 64) * 4;  // 196.5 KiB
inline constexpr std::uint16_t kMadeLayers = 2;

class RecordingMaker {
 public:
  explicit RecordingMaker(const MadeRun& run) : run_(run) {
    record::RunInfo info;
    info.demo = "train_step";
    info.params = {{"model", "tiny"},
                   {"batch", "4"},
                   {"seq", "128"},
                   {"precision", "fp32"},
                   {"steps", std::to_string(run.steps)},
                   {"checkpointing", run.checkpointing ? "layer" : "off"}};
    info.provenance = {{"revision", "made by hand"}, {"created", "2026-01-01T00:00:00Z"}};
    if (on_gpu()) info.provenance["gpu"] = "Example GPU";
    info.device = run.device;
    info.source = record::Source::kRecorded;
    info.cap = run.out_of_memory ? (run.checkpointing ? 3 : 6) * record::kMiB : 0;
    info.device_memory = on_gpu() ? 16 * record::kGiB : 0;
    recording_.set_info(std::move(info));
  }

  record::Recording make() {
    if (run_.every_row) add_other_rows();
    try {
      set_up();
      for (int step = 0; step < run_.steps; ++step)
        if (!train_step(step)) return std::move(recording_);
      recording_.set_outcome({.kind = record::OutcomeKind::kCompleted, .message = {}, .out_of_memory = {}});
    } catch (const record::OutOfMemoryFacts& facts) {
      recording_.set_outcome({.kind = record::OutcomeKind::kOutOfMemory,
                              .message = facts.op + " asked for " + record::format_bytes(facts.requested) +
                                         " that the cap of " + record::format_bytes(facts.limit) + " did not leave.",
                              .out_of_memory = facts});
    }
    return std::move(recording_);
  }

 private:
  using Category = record::Category;
  using Phase = record::Phase;
  static constexpr record::Bytes kSegment = record::kMiB;  // each segment; no allocation is larger
  struct Live {
    record::Bytes requested, block;
    Category category;
  };
  struct Layer {
    std::vector<std::uint64_t> saved;
    std::uint64_t input = 0;
  };

  bool on_gpu() const { return run_.device == record::DeviceKind::kGpu; }

  void add_other_rows() {
    const record::KernelSpan span{.start = 7, .duration = 4, .step = 0};
    recording_.append(std::span(&span, 1));
    recording_.append(record::Measurement{.panel = "rms_norm", .median = 5, .low = 4, .high = 6});
    recording_.append(record::SweepPoint{.series = "hf", .label = "batch=4", .peak = {.allocated = 28}});
    recording_.append(record::Placement{.storage = 9, .segment = 3, .offset = 512});
    recording_.append(record::Collective{.issued = 5, .begin = 6, .end = 9, .bytes = 4'096, .step = 0, .ranks = 4});
    recording_.append(record::Histogram{.name = "gradients", .step = 1, .low_exponent = -3, .counts = {1, 2}});
    recording_.set_kernel_report({.sentence = "It is right."});
  }

  void set_up() {
    mark(-1, Phase::kSetup);
    weights_.push_back(alloc(kMadeEmbedding, Category::kWeights, "embedding.weight"));
    for (std::uint16_t layer = 0; layer < kMadeLayers; ++layer) {
      tag_.layer = layer;
      weights_.push_back(alloc(kMadeLayer, Category::kWeights, "layer.weight"));
    }
    tag_.layer = record::kNoLayer;
    alloc(128 * 16 * 4 * 2, Category::kOther, "rope.table");  // [T, D] cosines and sines
  }

  // False if the run ends here.
  bool train_step(int step) {
    const record::Nanoseconds began = host_;
    const bool last = step + 1 == run_.steps;
    mark(step, Phase::kSetup);
    const std::uint64_t tokens = alloc(4 * 128 * 8, Category::kOther, "tokens");
    mark(step, Phase::kForward);
    std::uint64_t stream = alloc(kMadeHidden, Category::kActivations, "embedding");
    std::vector<Layer> layers(kMadeLayers);
    for (std::uint16_t l = 0; l < kMadeLayers; ++l) {
      mark(step, Phase::kForward, l);
      layers[l].input = stream;
      stream = forward(layers[l]);
      if (run_.checkpointing) free_all(layers[l].saved);
    }
    mark(step, Phase::kLoss);
    const std::uint64_t logits = alloc(kMadeLogits, Category::kLogits, "lm_head");
    const std::uint64_t grad_logits = alloc(kMadeLogits, Category::kLogits, "cross_entropy");
    free(logits);
    mark(step, Phase::kBackward);
    std::vector<std::uint64_t> gradients{alloc(kMadeEmbedding, Category::kGradients, "lm_head.backward")};
    std::uint64_t grad_stream = alloc(kMadeHidden, Category::kActivations, "lm_head.backward");
    free(grad_logits);
    free(stream);
    for (std::uint16_t l = kMadeLayers; l-- > 0;) {
      if (run_.checkpointing) {
        mark(step, Phase::kRecompute, l);
        free(forward(layers[l]));
      }
      mark(step, Phase::kBackward, l);
      gradients.push_back(backward(layers[l], grad_stream));
      if (last && !run_.finished) return false;
    }
    free(grad_stream);
    mark(step, Phase::kOptimizer);
    optimize(gradients);
    mark(step, Phase::kCopies);
    free(tokens);
    mark(-1, Phase::kSetup);
    const double loss = 5.545 / (1 + 0.1 * step);  // ln 256 at the start
    recording_.append(record::MetricSample{host_, loss, step, record::MetricKind::kLoss});
    const auto took = static_cast<double>(host_ - began);
    recording_.append(record::MetricSample{host_, took, step, record::MetricKind::kStepNanoseconds});
    recording_.append(record::MetricSample{host_, 512 * 1e9 / took, step, record::MetricKind::kTokensPerSecond});
    recording_.append(
        record::CounterSample{host_, 100 * record::kMiB + allocated_, record::CounterKind::kProcessBytes});
    return true;
  }

  std::uint64_t forward(Layer& layer) {
    for (const char* const op :
         {"attention.norm", "attention.q_proj", "attention.k_proj", "attention.v_proj", "attention"})
      layer.saved.push_back(alloc(kMadeHidden, Category::kActivations, op));
    for (const char* const op : {"mlp.gate_proj", "mlp.up_proj", "mlp.swiglu"})
      layer.saved.push_back(alloc(kMadeFeedForward, Category::kActivations, op));
    const std::uint64_t workspace = alloc(kMadeHidden / 2, Category::kWorkspace, "mlp.down_proj");
    const std::uint64_t out = alloc(kMadeHidden, Category::kActivations, "mlp.down_proj");
    free(workspace);
    return out;
  }

  // Allocates the layer's gradient, whose category is set afterwards; replaces the stream's gradient; frees the layer's
  // activations.
  std::uint64_t backward(Layer& layer, std::uint64_t& grad_stream) {
    const std::uint64_t gradient = alloc(kMadeLayer, Category::kActivations, "layer.backward");
    const std::uint64_t next = alloc(kMadeHidden, Category::kActivations, "layer.backward");
    relabel(gradient, Category::kGradients);
    free_all(layer.saved);
    free(layer.input);
    free(std::exchange(grad_stream, next));
    return gradient;
  }

  void optimize(std::vector<std::uint64_t>& gradients) {
    if (!has_state_) {
      for (const std::uint64_t weight : weights_)
        for (const char* const op : {"adamw.exp_avg", "adamw.exp_avg_sq"})
          alloc(live_.at(weight).requested, Category::kOptimizerState, op);
    }
    has_state_ = true;
    const std::uint64_t workspace = alloc(kMadeLayer, Category::kWorkspace, "adamw");
    free(workspace);
    free_all(gradients);
  }

  [[noreturn]] void run_out(record::Bytes wanted, std::string_view op) {
    record::MemEvent event = next_event(record::EventKind::kOutOfMemory, 0, op);
    event.requested = wanted;
    append(event);
    record::OutOfMemoryFacts facts;
    facts.requested = wanted;
    facts.allocated = allocated_;
    facts.reserved = reserved_;
    facts.limit = recording_.info().cap;
    facts.op = op;
    facts.phase = tag_.phase;
    facts.layer = tag_.layer;
    for (const auto& [id, live] : live_) facts.by_category[static_cast<std::size_t>(live.category)] += live.block;
    throw facts;
  }

  std::uint64_t alloc(record::Bytes bytes, Category category, std::string_view op) {
    const record::Bytes block = on_gpu() ? (bytes + 511) / 512 * 512 : bytes;
    const record::Bytes cap = recording_.info().cap;
    const record::Bytes would_take =
        on_gpu() ? (allocated_ + block + kSegment - 1) / kSegment * kSegment : allocated_ + block;
    if (cap != 0 && would_take > cap) run_out(bytes, op);
    if (on_gpu() && allocated_ + block > reserved_) take_segment();
    record::MemEvent event = next_event(record::EventKind::kAlloc, ++last_storage_, op);
    event.category = category;
    event.requested = bytes;
    event.block = block;
    live_[event.storage] = {bytes, block, category};
    allocated_ += block;
    append(event);
    return event.storage;
  }

  void free(std::uint64_t storage) {
    const Live live = live_.at(storage);
    live_.erase(storage);
    record::MemEvent event = next_event(record::EventKind::kFree, storage, "");
    event.category = live.category;
    event.requested = live.requested;
    event.block = live.block;
    allocated_ -= live.block;
    append(event);
  }

  void free_all(std::vector<std::uint64_t>& storages) {
    for (const std::uint64_t storage : storages) free(storage);
    storages.clear();
  }

  void relabel(std::uint64_t storage, Category category) {
    live_.at(storage).category = category;
    record::MemEvent event = next_event(record::EventKind::kRelabel, storage, "");
    event.category = category;
    append(event);
  }

  void take_segment() {
    record::MemEvent event = next_event(record::EventKind::kSegmentAlloc, ++last_storage_, "");
    event.block = kSegment;
    reserved_ += event.block;
    append(event);
  }

  record::MemEvent next_event(record::EventKind kind, std::uint64_t storage, std::string_view op) {
    host_ += on_gpu() ? 5'000 : 200'000;  // the host of a GPU only launches kernels
    device_ += on_gpu() ? 150'000 : 0;
    record::MemEvent event;
    event.kind = kind;
    event.time = host_;
    event.storage = storage;
    event.device = run_.device;
    event.phase = tag_.phase;
    event.layer = tag_.layer;
    event.op = op_number(op);
    return event;
  }

  void append(record::MemEvent& event) {
    event.allocator_allocated = allocated_;
    if (on_gpu()) event.allocator_reserved = reserved_;
    recording_.append(std::span(&event, 1));
  }

  void mark(std::int32_t step, Phase phase, std::uint16_t layer = record::kNoLayer) {
    host_ += recording_.marks().empty() ? 0 : 1'000;
    device_ = std::max(device_, host_);
    tag_ = {.host_time = host_,
            .device_time = on_gpu() ? device_ : host_,
            .event_index = recording_.events().size(),
            .step = step,
            .phase = phase,
            .layer = layer};
    recording_.append(std::span(&tag_, 1));
  }

  std::uint16_t op_number(std::string_view name) {
    if (name.empty()) return record::kNoOperator;
    const auto [found, is_new] = ops_.try_emplace(std::string(name), static_cast<std::uint16_t>(ops_.size() + 1));
    if (is_new) recording_.append_operators(found->second, std::span(&found->first, 1));
    return found->second;
  }

  MadeRun run_;
  record::Recording recording_;
  record::Mark tag_;
  record::Nanoseconds host_ = 0, device_ = 0;
  record::Bytes allocated_ = 0, reserved_ = 0;
  std::uint64_t last_storage_ = 0;
  bool has_state_ = false;
  std::vector<std::uint64_t> weights_;
  std::map<std::uint64_t, Live> live_;
  std::map<std::string, std::uint16_t> ops_;
};

inline record::Recording made_recording(const MadeRun& run = {}) { return RecordingMaker(run).make(); }

}  // namespace headroom::tests
