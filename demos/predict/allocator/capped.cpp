// Counts live bytes per request.
#include "demos/predict/allocator/capped.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "demos/predict/allocator/rewrite.h"

namespace headroom::predict {

using record::Bytes;
using record::EventKind;
using record::MemEvent;

namespace {

class RequestCapper {
 public:
  RequestCapper(const record::Recording& requests, Bytes limit) : requests_(requests), limit_(limit) {}

  record::Recording run() {
    record::Recording result = rewritten(
        requests_, [this](const MemEvent& event, std::vector<MemEvent>& events) { return take(event, events); });
    if (outcome_) result.set_outcome(*outcome_);
    return result;
  }

 private:
  // Returns false if out of memory.
  bool take(MemEvent event, std::vector<MemEvent>& events) {
    const bool ours = event.device == requests_.info().device;
    if (ours && event.kind == EventKind::kAlloc) {
      if (limit_ != 0 && event.requested > limit_ - live_bytes_) return run_out(event, events);
      live_[event.storage] = event;
      live_bytes_ += event.requested;
    } else if (const auto born = live_.find(event.storage); ours && born != live_.end()) {
      if (event.kind == EventKind::kRelabel) born->second.category = event.category;
      if (event.kind == EventKind::kFree) {
        live_bytes_ -= born->second.requested;
        live_.erase(born);
      }
    }
    if (ours && event.kind != EventKind::kRelabel) event.allocator_allocated = live_bytes_;
    events.push_back(event);
    return true;
  }

  bool run_out(MemEvent event, std::vector<MemEvent>& events) {
    record::OutOfMemoryFacts facts{.requested = event.requested, .allocated = live_bytes_, .limit = limit_};
    for (const auto& [storage, born] : live_)
      facts.by_category[static_cast<std::size_t>(born.category)] += born.requested;
    outcome_ = ran_out(requests_, event, facts);
    event.kind = EventKind::kOutOfMemory;
    event.storage = 0;
    event.block = 0;
    event.allocator_allocated = live_bytes_;
    events.push_back(event);
    return false;
  }

  const record::Recording& requests_;
  Bytes limit_, live_bytes_ = 0;
  std::unordered_map<std::uint64_t, MemEvent> live_;  // allocation events, with current categories
  std::optional<record::Outcome> outcome_;
};

}  // namespace

record::Outcome ran_out(const record::Recording& requests, const record::MemEvent& asked,
                        record::OutOfMemoryFacts facts) {
  facts.op = std::string(requests.op_name(asked.op));
  facts.phase = asked.phase;
  facts.layer = asked.layer;
  std::string who = facts.op.empty() ? "The run" : facts.op;
  if (facts.layer != record::kNoLayer) who += fmt::format(" in layer {}", facts.layer);
  return {.kind = record::OutcomeKind::kOutOfMemory,
          .message = fmt::format("{} ({}) requests {} more while {} are in use; the limit is {}.", who,
                                 record::label_of(facts.phase), record::format_bytes(facts.requested),
                                 record::format_bytes(facts.allocated), record::format_bytes(facts.limit)),
          .out_of_memory = facts};
}

record::Recording capped(const record::Recording& requests, Bytes limit) {
  return RequestCapper(requests, limit).run();
}

}  // namespace headroom::predict
