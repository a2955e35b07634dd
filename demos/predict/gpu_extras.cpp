// Requests of a GPU run that its trace lacks.
#include "demos/predict/gpu_extras.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "demos/predict/rewrite.h"
#include "demos/predict/step_bytes.h"
#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

using record::Bytes;
using record::Category;
using record::EventKind;
using record::MemEvent;
using record::Phase;

namespace {

// A sum over many rows is taken in parts: two for each row and output, in fp32, and a word for each group of threads
// (aten/src/ATen/native/cuda/Reduce.cuh). Recorded for 1,024 to 4,096 rows of 2,048 numbers.
constexpr Bytes kPartsPerRow = 2, kPartBytes = 4, kSemaphores = 64;

constexpr std::int64_t kMostUnsorted = 3072, kTokensPerPart = 10;
constexpr Bytes kId = 8;

bool sorts_ids(const StepSettings& step) { return !step.fused.embedding && step.tokens() > kMostUnsorted; }
// Of ten tokens each, and at least one for each id.
std::int64_t id_parts(const StepSettings& step) {
  return step.tokens() / kTokensPerPart + std::min(step.tokens(), step.model.vocab_size);
}

class Adding {
 public:
  Adding(const record::Recording& trace, const StepSettings& step)
      : trace_(trace),
        next_(next_storage(trace)),
        blas_(operator_named("matmul.workspace")),
        small_(16 * 16 * step.element_bytes()),
        norm_weight_(step.model.hidden_size * step.element_bytes()),
        norm_scratch_(step.tokens() * step.model.hidden_size * kPartsPerRow * kPartBytes),
        tokens_(step.tokens()),
        embedding_(step.model.vocab_size * step.model.hidden_size * step.element_bytes()),
        part_bytes_(step.model.hidden_size * kPartBytes),
        parts_(id_parts(step)),
        sorts_(sorts_ids(step)),
        chunked_(loss_in_chunks(step)) {}

  bool take(const MemEvent& event, std::vector<MemEvent>& events) {
    if (events.empty()) take_workspace(event, events);
    const std::string_view op = trace_.op_name(event.op);
    const bool in_loss = chunked_ && event.phase == Phase::kLoss && op == "lm_head";
    if (in_loss && event.kind == EventKind::kFree && !multiplied_) {
      multiplied_ = true;
      request(event, kBlasLtWorkspace, Category::kWorkspace, events);
    }
    const bool sums_ids = sorts_ && event.kind == EventKind::kAlloc && event.phase == Phase::kBackward &&
                          op == "embedding" && event.requested == embedding_;
    if (sums_ids) return sum_by_id(event, events);
    events.push_back(event);
    const bool sums_rows = event.kind == EventKind::kAlloc && event.phase == Phase::kBackward &&
                           event.category == Category::kActivations && op.ends_with(".rms_norm") &&
                           event.requested == norm_weight_;
    if (sums_rows) {
      const MemEvent parts = request(event, norm_scratch_, event.category, events);
      release(request(event, kSemaphores, event.category, events), events);
      release(parts, events);
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

  // Around the gradient: ids and their order, sorted; then where each id and each part begins, and the parts. The scratch
  // of the sort itself, 20 B per token, is returned before the gradient is there, and left out.
  bool sum_by_id(const MemEvent& gradient, std::vector<MemEvent>& events) {
    const Bytes ids = tokens_ * kId;
    const auto scratch = [&](Bytes bytes) { return request(gradient, bytes, Category::kWorkspace, events); };
    std::vector<MemEvent> held;
    for (int i = 0; i < 2; ++i) held.push_back(scratch(ids));
    release(scratch(ids), events);
    events.push_back(gradient);
    for (const Bytes bytes : {ids, kId}) held.push_back(scratch(bytes));
    release(scratch(ids), events);
    for (const Bytes bytes : {ids, ids, kId, parts_ * kId, parts_ * part_bytes_}) held.push_back(scratch(bytes));
    for (auto each = held.rbegin(); each != held.rend(); ++each) release(*each, events);
    return true;
  }

  // The run makes a small product first, so that the workspace has its name.
  void take_workspace(const MemEvent& first, std::vector<MemEvent>& events) {
    const MemEvent operand = request(first, small_, Category::kWorkspace, events);
    const MemEvent product = request(first, small_, Category::kWorkspace, events);
    MemEvent named = first;
    named.op = blas_;
    request(named, kBlasWorkspace, Category::kWorkspace, events);
    release(product, events);
    release(operand, events);
  }

  // No operator, where the trace does not know it.
  std::uint16_t operator_named(std::string_view name) const {
    for (std::uint16_t op = 1; !trace_.op_name(op).empty(); ++op)
      if (trace_.op_name(op) == name) return op;
    return record::kNoOperator;
  }

  const record::Recording& trace_;
  std::uint64_t next_;
  std::uint16_t blas_;
  Bytes small_, norm_weight_, norm_scratch_;
  std::int64_t tokens_;
  Bytes embedding_, part_bytes_;
  std::int64_t parts_;
  bool sorts_, chunked_, multiplied_ = false;
};

}  // namespace

Bytes id_sort_bytes(const StepSettings& step) {
  if (!sorts_ids(step)) return 0;
  return 5 * step.tokens() * kId + 2 * kId + id_parts(step) * (kId + step.model.hidden_size * kPartBytes);
}

record::Recording with_gpu_extras(const record::Recording& trace, record::Schema train_step) {
  Adding adding(trace, settings_of(trace.info(), train_step));
  return rewritten(trace,
                   [&](const MemEvent& event, std::vector<MemEvent>& events) { return adding.take(event, events); });
}

}  // namespace headroom::predict
