// Training steps of Llama 3.2 1B (16 layers, H 2048, F 8192, V 128,256, pure bf16) with realistic events, for pictures,
// limits and long recordings.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"

namespace headroom::tests {

struct LlamaRun {
  int batch = 4;
  int steps = 2;
  bool checkpointing = false;
  record::Bytes cap = 0;
  int extra_events = 0;  // 1 MiB workspaces, allocated and freed within a layer
  record::Source source = record::Source::kRecorded;
  std::uint64_t stop_after = ~std::uint64_t{0};  // events before the run pauses, without outcome
  record::Bytes context = 516 * record::kMiB;    // process memory beyond what the allocator reserved; 0: not measured
};

class LlamaRunMaker {
 public:
  explicit LlamaRunMaker(const LlamaRun& run) : run_(run) {
    record::RunInfo info;
    info.demo = "train_step";
    info.params = {{"model", "llama-3.2-1b"},
                   {"batch", std::to_string(run.batch)},
                   {"seq", "1024"},
                   {"precision", "bf16"},
                   {"checkpointing", run.checkpointing ? "layer" : "off"}};
    info.provenance = {{"gpu", "NVIDIA H200"}, {"driver", "580.00"}, {"revision", "put together"}};
    info.device = record::DeviceKind::kGpu;
    info.source = run.source;
    info.cap = run.cap;
    info.device_memory = 150'107'521'024;
    recording_.set_info(std::move(info));
  }

  record::Recording make() {
    try {
      weights();
      for (int i = 0; i < run_.steps; ++i) step(i);
      recording_.set_outcome({record::OutcomeKind::kCompleted, {}, {}});
    } catch (const record::OutOfMemoryFacts& facts) {
      recording_.set_outcome({record::OutcomeKind::kOutOfMemory, facts.op + " did not fit.", facts});
    } catch (const Stopped&) {
    }
    return std::move(recording_);
  }

 private:
  using Category = record::Category;
  using Phase = record::Phase;
  struct Stopped {};
  struct Live {
    record::Bytes bytes;
    Category category;
  };
  using Saved = std::vector<std::uint64_t>;
  static constexpr int kLayers = 16;
  static constexpr record::Bytes kHidden = 2048, kFeed = 8192, kVocabulary = 128256, kKv = 512, kWord = 2;

  record::Bytes tokens() const { return record::Bytes{run_.batch} * 1024; }

  static const std::vector<std::pair<const char*, record::Bytes>>& layer_weights() {
    static const std::vector<std::pair<const char*, record::Bytes>> kWeights{
        {"attention.rms_norm", kHidden},         {"attention.q_proj", kHidden * kHidden},
        {"attention.k_proj", kHidden * kKv},     {"attention.v_proj", kHidden * kKv},
        {"attention.o_proj", kHidden * kHidden}, {"mlp.rms_norm", kHidden},
        {"mlp.gate_proj", kHidden * kFeed},      {"mlp.up_proj", kHidden * kFeed},
        {"mlp.down_proj", kHidden * kFeed}};
    return kWeights;
  }

  void weights() {
    mark(-1, Phase::kSetup, record::kNoLayer, 0);
    alloc("embedding", Category::kWeights, kVocabulary * kHidden * kWord);
    for (int l = 0; l < kLayers; ++l) {
      layer_ = static_cast<std::uint16_t>(l);
      for (const auto& [op, count] : layer_weights()) alloc(op, Category::kWeights, count * kWord);
    }
    layer_ = record::kNoLayer;
    for (const char* op : {"adamw.first_moment", "adamw.second_moment"}) {
      for (int l = 0; l < kLayers; ++l) {
        for (const auto& [name, count] : layer_weights()) alloc(op, Category::kOptimizerState, count * kWord);
      }
      alloc(op, Category::kOptimizerState, kVocabulary * kHidden * kWord);
    }
    alloc("matmul.workspace", Category::kWorkspace, 32 * record::kMiB);
    alloc("rope.tables", Category::kOther, 1024 * 64 * 8);
  }

  void step(int index) {
    mark(index, Phase::kSetup, record::kNoLayer, 0.1);
    const std::uint64_t ids = alloc("tokens", Category::kOther, tokens() * 16);
    mark(index, Phase::kForward, record::kNoLayer, 0.3);
    std::uint64_t stream = alloc("embedding", Category::kActivations, tokens() * kHidden * kWord);
    std::vector<Saved> saved(kLayers);
    Saved streams;
    for (int l = 0; l < kLayers; ++l) {
      mark(index, Phase::kForward, l, 1.6);
      streams.push_back(stream);
      stream = forward_layer(saved[static_cast<std::size_t>(l)]);
      if (run_.checkpointing) free_all(saved[static_cast<std::size_t>(l)]);
    }
    mark(index, Phase::kLoss, record::kNoLayer, 4.2);
    const std::uint64_t gradient_of_logits = loss();
    mark(index, Phase::kBackward, record::kNoLayer, 4.5);
    Saved gradients{alloc("embedding", Category::kGradients, kVocabulary * kHidden * kWord)};
    free(stream);
    free(gradient_of_logits);
    for (int l = kLayers; l-- > 0;) backward_layer(index, l, saved[static_cast<std::size_t>(l)], streams, gradients);
    mark(index, Phase::kOptimizer, record::kNoLayer, 11);
    for (int i = 0; i < 40; ++i) free(alloc("adamw.first_moment", Category::kWorkspace, 400 * record::kMiB));
    free_all(gradients);
    free(ids);
    mark(-1, Phase::kSetup, record::kNoLayer, 0.4);
  }

  std::uint64_t forward_layer(Saved& saved) {
    const record::Bytes bth = tokens() * kHidden * kWord, btf = tokens() * kFeed * kWord;
    const auto keep = [&](const char* op, record::Bytes bytes) {
      saved.push_back(alloc(op, Category::kActivations, bytes));
    };
    keep("attention.rms_norm", bth);
    keep("attention.q_proj", bth);
    keep("attention.k_proj", bth / 4);
    keep("attention.v_proj", bth / 4);
    keep("attention.scores", bth);
    free(alloc("attention.o_proj", Category::kActivations, bth));
    keep("attention.residual", bth);
    keep("mlp.rms_norm", bth);
    keep("mlp.gate_proj", btf);
    keep("mlp.up_proj", btf);
    keep("mlp.product", btf);
    for (int i = 0; i < run_.extra_events / 2; ++i) free(alloc("mlp.down_proj", Category::kWorkspace, record::kMiB));
    free(alloc("mlp.down_proj", Category::kActivations, bth));
    return alloc("mlp.residual", Category::kActivations, bth);
  }

  // Logits in bf16, then fp32, their softmax and their gradient.
  std::uint64_t loss() {
    const record::Bytes btv = tokens() * kVocabulary;
    const std::uint64_t logits = alloc("lm_head", Category::kLogits, btv * 2);
    const std::uint64_t wide = alloc("loss.to_fp32", Category::kLogits, btv * 4);
    const std::uint64_t softmax = alloc("loss.log_softmax", Category::kLogits, btv * 4);
    free(wide);
    const std::uint64_t gradient = alloc("loss.nll", Category::kLogits, btv * 4);
    free(softmax);
    free(logits);
    const std::uint64_t narrow = alloc("lm_head", Category::kLogits, btv * 2);
    free(gradient);
    return narrow;
  }

  void backward_layer(int index, int l, Saved& saved, Saved& streams, Saved& gradients) {
    if (run_.checkpointing) {
      mark(index, Phase::kRecompute, l, 1.6);
      free(forward_layer(saved));
    }
    mark(index, Phase::kBackward, l, 3.1);
    const record::Bytes btf = tokens() * kFeed * kWord;
    const Saved scratch{alloc("mlp.gate_proj", Category::kActivations, btf),
                        alloc("mlp.up_proj", Category::kActivations, btf)};
    for (const auto& [op, count] : layer_weights()) gradients.push_back(alloc(op, Category::kGradients, count * kWord));
    for (const std::uint64_t id : scratch) free(id);
    free_all(saved);
    free(streams.back());
    streams.pop_back();
  }

  std::uint64_t alloc(const char* op, Category category, record::Bytes bytes) {
    const record::Bytes block = (bytes + 511) / 512 * 512;
    if (run_.cap > 0 && allocated_ + block > run_.cap) {
      append(record::EventKind::kOutOfMemory, ++last_, op, category, bytes, 0);
      record::OutOfMemoryFacts facts;
      facts.requested = bytes;
      facts.allocated = allocated_;
      facts.reserved = reserved_;
      facts.limit = run_.cap;
      facts.op = op;
      throw facts;
    }
    if (allocated_ + block > reserved_) {
      const record::Bytes wanted = std::max<record::Bytes>(block, 20 * record::kMiB);
      const record::Bytes grown = run_.cap > 0 ? std::min(wanted, run_.cap - reserved_) : wanted;
      reserved_ += grown;
      append(record::EventKind::kSegmentAlloc, ++last_, "", Category::kOther, 0, grown);
      if (run_.context > 0) {
        recording_.append(record::CounterSample{host_, reserved_ + run_.context, record::CounterKind::kProcessBytes});
        recording_.append(record::CounterSample{host_, reserved_ + run_.context + 300 * record::kMiB,
                                                record::CounterKind::kDeviceUsedBytes});
      }
    }
    live_[++last_] = {block, category};
    allocated_ += block;
    append(record::EventKind::kAlloc, last_, op, category, bytes, block);
    return last_;
  }

  void free(std::uint64_t id) {
    const Live live = live_.at(id);
    live_.erase(id);
    allocated_ -= live.bytes;
    append(record::EventKind::kFree, id, "", live.category, live.bytes, live.bytes);
  }

  void free_all(Saved& ids) {
    for (const std::uint64_t id : ids) free(id);
    ids.clear();
  }

  void append(record::EventKind kind, std::uint64_t id, std::string_view op, Category category, record::Bytes bytes,
              record::Bytes block) {
    if (recording_.events().size() >= run_.stop_after) throw Stopped{};
    record::MemEvent event;
    event.time = host_ += 2'000;
    event.storage = id;
    event.requested = bytes;
    event.block = block;
    event.kind = kind;
    event.device = record::DeviceKind::kGpu;
    event.category = category;
    event.layer = layer_;
    event.op = op_number(op);
    recording_.append(std::span(&event, 1));
  }

  // `ms`: the device's time until the next mark.
  void mark(std::int32_t index, Phase phase, int layer, double ms) {
    layer_ = static_cast<std::uint16_t>(layer);
    record::Mark mark;
    mark.host_time = recording_.marks().empty() ? 0 : host_ += 1'000;
    mark.device_time = std::max(device_, mark.host_time);
    mark.event_index = recording_.events().size();
    mark.step = index;
    mark.phase = phase;
    mark.layer = layer_;
    recording_.append(std::span(&mark, 1));
    device_ = mark.device_time + static_cast<record::Nanoseconds>(ms * 1e6);
  }

  std::uint16_t op_number(std::string_view name) {
    if (name.empty()) return record::kNoOperator;
    const auto [found, is_new] = ops_.try_emplace(std::string(name), static_cast<std::uint16_t>(ops_.size() + 1));
    if (is_new) recording_.append_operators(found->second, std::span(&found->first, 1));
    return found->second;
  }

  LlamaRun run_;
  record::Recording recording_;
  std::uint16_t layer_ = record::kNoLayer;
  record::Nanoseconds host_ = 0, device_ = 0;
  record::Bytes allocated_ = 0, reserved_ = 0;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Live> live_;
  std::map<std::string, std::uint16_t> ops_;
};

inline record::Recording llama_recording(const LlamaRun& run = {}) { return LlamaRunMaker(run).make(); }

}  // namespace headroom::tests
