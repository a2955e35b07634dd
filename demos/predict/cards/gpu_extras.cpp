// Adds the requests of a GPU run to its trace.
#include "demos/predict/cards/gpu_extras.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "demos/llama/layer_weights.h"
#include "demos/predict/allocator/rewrite.h"
#include "demos/predict/forms/eigenvectors.h"
#include "demos/predict/forms/step_bytes.h"

namespace headroom::predict {

using llama::LayerWeight;
using llama::Op;
using llama::WeightKind;
using record::Bytes;
using record::Category;
using record::EventKind;
using record::MemEvent;
using record::Phase;

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Scratch of a sum over rows by several thread blocks: fp32 partial sums, and a semaphore per column of blocks
// (aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig(), global_memory_size() and semaphore_size()).
struct RowSum {
  Bytes parts = 0, semaphores = 0;  // 0: one block per column
};
// 4,096 rows of 2,048: 64 blocks per column, 4 · 2,048 · 64 · 128 = 67,108,864 B.
RowSum row_sum(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kThreads = 512, kWarp = 32, kThreadsPerMultiprocessor = 2048;
  constexpr std::int64_t kLeast = 16, kMost = 256;  // values per thread
  const std::int64_t per_thread = columns >= 128 ? 4 : 1, threads = kThreads / per_thread, height = threads / kWarp;
  const std::int64_t values = ceil_div(rows, height), width = kWarp * per_thread;
  const std::int64_t grid = ceil_div(columns, width);
  const std::int64_t target = kMultiprocessors * (kThreadsPerMultiprocessor / threads);
  if (values < kMost || grid > target) return {};
  const std::int64_t blocks =
      std::max(std::min(ceil_div(target, grid), ceil_div(values, kLeast)), ceil_div(values, kMost));
  constexpr Bytes kPart = 4, kWord = 4;
  return {.parts = kPart * columns * blocks * width, .semaphores = kWord * grid};
}

constexpr std::int64_t kMostUnsorted = 3072, kTokensPerPart = 10;
constexpr Bytes kId = 8;

bool sorts_ids(const StepSettings& step) { return !step.fused.embedding && step.tokens() > kMostUnsorted; }
// Upper bound of the parts: one per ten tokens, plus one per id.
std::int64_t id_parts(const StepSettings& step) {
  return step.tokens() / kTokensPerPart + std::min(step.tokens(), step.model.vocab_size);
}

// CUB's temporary storage: arrays rounded up to 256 B, and 255 B for alignment.
constexpr Bytes kAligned = 256;
Bytes aligned(Bytes bytes) { return ceil_div(bytes, kAligned) * kAligned; }
// Scratch of a radix sort of ids and positions: a second copy of both, counts of 256 digits for eight passes, counters,
// and 256 words per tile of 4,608 ids (cub/device/dispatch/dispatch_radix_sort.cuh, onesweep). 34,803 ids: 582,143 B.
Bytes sort_scratch(std::int64_t ids) {
  constexpr Bytes kDigits = 256, kPasses = 8, kTile = 4608;
  return kAligned - 1 + 2 * aligned(kId * ids) + kDigits * kPasses * kId + kAligned +
         4 * kDigits * ceil_div(ids, kTile);
}
// Scratch of a tiled scan: two words for each tile and for each of the 32 tiles that CUB adds in front.
Bytes scan_scratch(std::int64_t values, std::int64_t tile) {
  constexpr Bytes kState = 8, kBefore = 32, kTwoCounts = 2 * kAligned;
  return kAligned - 1 + kTwoCounts + aligned(kState * (kBefore + ceil_div(values, tile)));
}
// These tile sizes fit all recordings of 8,662 to 89,755 values.
constexpr std::int64_t kUniqueTile = 1920, kSumTile = 448;

// Shorter sides of the projections' weights.
std::vector<std::int64_t> sides_of(const llama::Config& model) {
  std::vector<std::int64_t> sides;
  for (const LayerWeight& weight : llama::layer_weights(model))
    if (weight.kind == WeightKind::kMatrix) sides.push_back(std::min(weight.rows, weight.columns));
  return sides;
}

// A gradient that PyTorch's operators sum over rows: a norm's or a bias's.
struct Summed {
  Op op{};
  Category category{};
  std::int64_t rows = 0, columns = 0;
};
std::vector<Summed> summed_in(const StepSettings& step) {
  const std::int64_t tokens = step.tokens();
  std::vector<Summed> all{{Op::kFinalNorm, Category::kActivations, tokens, step.model.hidden_size}};
  for (const LayerWeight& weight : llama::layer_weights(step.model))
    if (weight.kind != WeightKind::kMatrix)
      all.push_back({weight.op, is_norm(weight.kind) ? Category::kActivations : Category::kWorkspace,
                     tokens * weight.per_token, weight.rows});
  return all;
}

class ExtraRequests {
 public:
  ExtraRequests(const record::Recording& trace, const StepSettings& step)
      : trace_(trace),
        step_(step),
        next_(next_storage(trace)),
        blas_(operator_named(name_of(Op::kBlasWorkspace))),
        embedding_(step.model.vocab_size * step.model.hidden_size * step.element_bytes()),
        scores_(step.tokens() * step.sequence * step.model.num_heads * kFloat),
        queries_(step.tokens() * step.model.num_heads * step.model.head_dim * step.element_bytes()),
        sorts_(sorts_ids(step)),
        chunked_(loss_in_chunks(step)),
        fp8_(step.fp8()),
        eager_(step.fused.attention == Attention::kEager),
        sides_(sides_of(step.model)),
        summed_(summed_in(step)) {}

  bool take(const MemEvent& event, std::vector<MemEvent>& events) {
    if (events.empty()) take_workspace(event, events);
    if (record::in_graph_pool(event.stream) && !recorded_) begin_graph(event, events);
    const std::string_view op = trace_.op_name(event.op);
    if (op == name_of(Op::kProjection) && decompose(event, events)) return true;
    const bool loss = event.phase == Phase::kLoss || event.phase == Phase::kEvaluation;
    const bool in_loss = chunked_ && loss && op == name_of(Op::kLmHead);
    if (in_loss && event.kind == EventKind::kFree && !multiplied_) {
      multiplied_ = true;
      request(event, kBlasLtWorkspace, Category::kWorkspace, events);
    }
    const bool made_in_backward = event.kind == EventKind::kAlloc && event.phase == Phase::kBackward;
    if (made_in_backward && sorts_ && op == name_of(Op::kEmbedding) && event.requested == embedding_)
      return sum_by_id(event, events);
    events.push_back(event);
    if (fp8_ && !multiplied_ && op == name_of(Op::kQProj) && event.requested == queries_) {
      multiplied_ = true;
      request(event, kBlasLtWorkspace, Category::kWorkspace, events);
    }
    if (!made_in_backward) return true;
    if (const Summed* const sum = summed(event, op)) {
      sum_rows(event, *sum, events);
    } else if (eager_ && op == name_of(Op::kScores) && event.requested == scores_) {
      softmax_backward(event, events);
    }
    return true;
  }

 private:
  MemEvent request(const MemEvent& near, Bytes bytes, Category category, std::vector<MemEvent>& events) {
    MemEvent event = near;
    event.kind = EventKind::kAlloc;
    event.storage = next_++;
    event.requested = event.block = bytes;
    event.category = category;
    events.push_back(event);
    return event;
  }
  static void release(MemEvent event, std::vector<MemEvent>& events) {
    event.kind = EventKind::kFree;
    events.push_back(event);
  }

  const Summed* summed(const MemEvent& event, std::string_view op) const {
    const auto fits = [&](const Summed& each) {
      return each.category == event.category && name_of(each.op) == op &&
             each.columns * step_.element_bytes() == event.requested;
    };
    const auto found = std::ranges::find_if(summed_, fits);
    return found == summed_.end() ? nullptr : &*found;
  }
  void sum_rows(const MemEvent& gradient, const Summed& summed, std::vector<MemEvent>& events) {
    const RowSum sum = row_sum(summed.rows, summed.columns);
    if (sum.parts == 0) return;
    const MemEvent parts = request(gradient, sum.parts, gradient.category, events);
    release(request(gradient, sum.semaphores, gradient.category, events), events);
    release(parts, events);
  }

  // Temporary product of softmax and its gradient (aten/src/ATen/native/cuda/SoftMax.cu). A layer's backward pass
  // allocates two tensors as large as fp32 scores (three in fp32); the second one is the result.
  void softmax_backward(const MemEvent& event, std::vector<MemEvent>& events) {
    if (event.layer != scores_layer_) scores_made_ = 0;
    scores_layer_ = event.layer;
    const int per_layer = step_.precision == Precision::kFp32 ? 3 : 2;
    if (scores_made_++ % per_layer == 1) release(request(event, scores_, event.category, events), events);
  }

  // Allocates before the gradient: the sorted ids and their order; after it: the offsets of ids and parts, and the
  // parts.
  bool sum_by_id(const MemEvent& gradient, std::vector<MemEvent>& events) {
    const std::int64_t tokens = step_.tokens(), parts = id_parts(step_);
    const std::int64_t most_ids = std::min(tokens, step_.model.vocab_size);
    const Bytes ids = tokens * kId, begins = most_ids * kId, part = step_.model.hidden_size * kFloat;
    const auto scratch = [&](Bytes bytes) { return request(gradient, bytes, Category::kWorkspace, events); };
    const auto held_only_for = [&](Bytes bytes, Bytes inside) {
      const MemEvent held = scratch(bytes);
      release(scratch(inside), events);
      release(held, events);
    };
    std::vector<MemEvent> held;
    for (int i = 0; i < 2; ++i) held.push_back(scratch(ids));
    held_only_for(ids, sort_scratch(tokens));
    events.push_back(gradient);
    for (const Bytes bytes : {ids, kId}) held.push_back(scratch(bytes));
    held_only_for(ids, scan_scratch(tokens, kUniqueTile));
    for (int i = 0; i < 2; ++i) held.push_back(scratch(begins));
    release(scratch(scan_scratch(most_ids, kSumTile)), events);
    for (const Bytes bytes : {kId, parts * kId, parts * part}) held.push_back(scratch(bytes));
    for (auto each = held.rbegin(); each != held.rend(); ++each) release(*each, events);
    return true;
  }

  // cuSOLVER's work array replaces LAPACK's two arrays.
  bool decompose(const MemEvent& event, std::vector<MemEvent>& events) {
    if (event.kind == EventKind::kAlloc) {
      for (const std::int64_t n : sides_) {
        const bool work = event.requested == lapack_work(n), integers = event.requested == lapack_integers(n);
        if (work) decomposing_[event.storage] = cusolver_work(n);
        if (integers && !decomposing_.empty()) decomposing_[event.storage] = 0;
        if (decomposing_.contains(event.storage)) break;
      }
    }
    const auto found = decomposing_.find(event.storage);
    if (found == decomposing_.end()) return false;
    if (found->second > 0) {
      events.push_back(event);
      events.back().requested = found->second;
    }
    if (event.kind == EventKind::kFree) decomposing_.erase(found);
    return true;
  }

  // A graph keeps the random seed and offset outside its pool (aten/src/ATen/cuda/CUDAGeneratorImpl.cpp,
  // register_graph()).
  void begin_graph(const MemEvent& first, std::vector<MemEvent>& events) {
    recorded_ = true;
    MemEvent before = first;
    before.stream = static_cast<std::uint8_t>(record::Stream::kGraph);
    for (int i = 0; i < kGraphNumbers; ++i) request(before, kGraphNumber, Category::kWorkspace, events);
  }

  // A small first GEMM requests the workspace, under an operator of its own; with a graph, on the graph's stream.
  void take_workspace(const MemEvent& first, std::vector<MemEvent>& events) {
    const Bytes small = 16 * 16 * step_.element_bytes();
    MemEvent named = first;
    named.op = blas_;
    if (step_.cuda_graph) named.stream = static_cast<std::uint8_t>(record::Stream::kGraph);
    const MemEvent operand = request(named, small, Category::kWorkspace, events);
    const MemEvent product = request(named, small, Category::kWorkspace, events);
    request(named, kBlasWorkspace, Category::kWorkspace, events);
    release(product, events);
    release(operand, events);
  }

  // Returns kNoOperator if the trace lacks the name.
  std::uint16_t operator_named(std::string_view name) const {
    const auto& names = trace_.operators();
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? record::kNoOperator : static_cast<std::uint16_t>(found - names.begin());
  }

  static constexpr Bytes kFloat = 4;

  const record::Recording& trace_;
  const StepSettings& step_;
  std::uint64_t next_;
  std::uint16_t blas_;
  Bytes embedding_, scores_, queries_;
  bool sorts_, chunked_, fp8_, eager_, multiplied_ = false, recorded_ = false;
  std::vector<std::int64_t> sides_;  // sides of decomposed matrices
  std::vector<Summed> summed_;
  std::unordered_map<std::uint64_t, Bytes> decomposing_;  // maps LAPACK's storages to cuSOLVER's sizes
  std::uint16_t scores_layer_ = record::kNoLayer;
  int scores_made_ = 0;
};

}  // namespace

Bytes id_sort_bytes(const StepSettings& step) {
  if (!sorts_ids(step)) return 0;
  constexpr Bytes kFloat = 4;
  const std::int64_t most_ids = std::min(step.tokens(), step.model.vocab_size);
  return (3 * step.tokens() + 2 * most_ids + 2) * kId + id_parts(step) * (kId + step.model.hidden_size * kFloat);
}

record::Recording with_gpu_extras(const record::Recording& trace, record::Schema train_step) {
  const StepSettings step = settings_of(trace.info(), train_step);
  ExtraRequests extras(trace, step);
  return rewritten(trace,
                   [&](const MemEvent& event, std::vector<MemEvent>& events) { return extras.take(event, events); });
}

}  // namespace headroom::predict
