// Repeats a step's events with new storages.
#include "demos/predict/allocator/more_steps.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "demos/predict/allocator/births.h"
#include "demos/predict/allocator/rewrite.h"
#include "demos/predict/optimizers.h"

namespace headroom::predict {

using record::EventKind;
using record::Mark;
using record::MemEvent;

namespace {

constexpr int kFirstAndSecond = 2;

// The last step's marks and events, after the previous step's end mark.
struct LastStep {
  std::size_t first_mark = 0;
  std::uint64_t first_event = 0;
};

std::optional<LastStep> last_step(const record::Recording& trace) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i < trace.marks().size(); ++i)
    if (trace.marks()[i].step == -1 && trace.marks()[i - 1].step != -1) ends.push_back(i);
  if (ends.size() < kFirstAndSecond) return std::nullopt;
  const std::size_t end_before = ends[ends.size() - 2];
  // Frees after a step's end mark belong to that step.
  const std::uint64_t behind = trace.events().size() - trace.marks()[ends.back()].event_index;
  return LastStep{end_before + 1, trace.marks()[end_before].event_index + behind};
}

class StepRepeater {
 public:
  StepRepeater(const record::Recording& trace, const LastStep& step)
      : events_(trace.events().begin() + static_cast<std::ptrdiff_t>(step.first_event), trace.events().end()),
        marks_(trace.marks().begin() + static_cast<std::ptrdiff_t>(step.first_mark), trace.marks().end()),
        next_storage_(next_storage(trace)) {
    for (std::uint64_t i = 0; i < step.first_event; ++i) take(trace.events()[i], before_);
    first_event_ = step.first_event;
    duration_ = events_.empty() ? 0 : events_.back().time - events_.front().time;
  }

  // True if the step replaces every earlier storage that it frees.
  bool prepare() {
    Births alive = before_;
    for (const MemEvent& event : events_) take(event, alive);
    std::optional<Successors> found = successors(before_, alive);
    if (!found) return false;
    successor_ = *std::move(found);
    return true;
  }

  // `nth`: the copy's number, from 1.
  void append_to(record::Recording& trace, int nth) {
    std::vector<MemEvent> events = events_;
    const std::uint64_t shift = trace.events().size() - first_event_;
    std::unordered_map<std::uint64_t, std::uint64_t> born;  // maps the trace's storages to this copy's numbers
    for (MemEvent& event : events) {
      event.time += nth * duration_;
      if (event.kind == EventKind::kAlloc) born[event.storage] = next_storage_++;
      if (const auto here = born.find(event.storage); here != born.end()) {
        event.storage = here->second;
      } else if (const auto old = successor_.find(event.storage); old != successor_.end()) {
        const auto copied = born_before_.find(old->second);
        event.storage = copied == born_before_.end() ? old->second : copied->second;
      }
    }
    born_before_ = std::move(born);
    trace.append(events);
    std::vector<Mark> marks = marks_;
    for (Mark& mark : marks) {
      mark.host_time += nth * duration_;
      if (mark.device_time != record::kPending) mark.device_time += nth * duration_;
      mark.event_index += shift;
      if (mark.step >= 0) mark.step += nth;
    }
    trace.append(marks);
  }

 private:
  std::vector<MemEvent> events_;
  std::vector<Mark> marks_;
  std::uint64_t first_event_ = 0, next_storage_;
  record::Nanoseconds duration_ = 0;
  Births before_;  // live storages at the step's start
  Successors successor_;
  // Maps the trace's storages to the previous copy's numbers.
  std::unordered_map<std::uint64_t, std::uint64_t> born_before_;
};

}  // namespace

int traced_steps(const StepSettings& step) {
  const bool all_alike = !form_of(step.optimizer.kind).low_rank && !step.cuda_graph && step.eval_every == 0;
  return all_alike ? std::min(step.steps, kFirstAndSecond) : step.steps;
}

std::optional<record::Recording> with_more_steps(record::Recording trace, int steps) {
  const auto last = last_step(trace);
  if (!last) return std::nullopt;
  StepRepeater repeater(trace, *last);
  if (!repeater.prepare()) return std::nullopt;
  for (int nth = 1; nth + kFirstAndSecond <= steps; ++nth) repeater.append_to(trace, nth);
  return trace;
}

}  // namespace headroom::predict
