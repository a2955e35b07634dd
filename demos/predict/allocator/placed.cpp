// Passes a recording's requests to the caching allocator.
#include "demos/predict/allocator/placed.h"

#include <optional>
#include <unordered_map>
#include <vector>

#include "demos/predict/allocator/caching_allocator.h"
#include "demos/predict/allocator/capped.h"
#include "demos/predict/allocator/rewrite.h"
#include "demos/predict/cards/gpu_extras.h"

namespace headroom::predict {

using record::Bytes;
using record::EventKind;
using record::MemEvent;

namespace {

// Segments' addresses in order of allocation; empty for recordings without placements.
std::vector<Bytes> segment_addresses(const record::Recording& run) {
  std::vector<Bytes> addresses;
  for (const record::Placement& place : run.placements())
    if (place.storage == place.segment) addresses.push_back(place.offset);
  return addresses;
}

std::string_view setting(const record::RunInfo& run, std::string_view key) {
  const auto found = run.params.find(std::string(key));
  return found == run.params.end() ? std::string_view() : found->second;
}

bool has_communicators(const record::RunInfo& run) {
  const std::string_view ranks = setting(run, "ranks");
  return !ranks.empty() && ranks != "1";
}

// The storage before whose allocation a CUDA graph empties the cache: the graph's seed, or the first storage of its
// pool; 0 without a graph.
std::uint64_t graph_begin(const record::Recording& requests) {
  std::uint64_t begin = 0;
  int numbers = 0;
  for (const MemEvent& event : requests.events()) {
    if (event.kind != EventKind::kAlloc) {
      if (event.kind == EventKind::kFree) numbers = 0;
      continue;
    }
    if (record::in_graph_pool(event.stream)) return numbers == kGraphNumbers ? begin : event.storage;
    numbers = event.requested == kGraphNumber ? numbers + 1 : 0;
    if (numbers == 1) begin = event.storage;
  }
  return 0;
}

class RequestPlacer {
 public:
  RequestPlacer(const record::Recording& requests, Bytes limit)
      : requests_(requests),
        allocator_(limit, setting(requests.info(), kExpandableSegments) == "on",
                   DeviceAddresses(has_communicators(requests.info()), segment_addresses(requests))),
        limit_(limit),
        first_segment_(next_storage(requests)),
        graph_begin_(graph_begin(requests)) {}

  record::Recording run() {
    record::Recording result = rewritten(requests_, [this](const MemEvent& event, std::vector<MemEvent>& events) {
      events_ = &events;
      return take(event);
    });
    result.append(placements_);
    if (outcome_) result.set_outcome(*outcome_);
    return result;
  }

 private:
  struct Live {
    CachingAllocator::BlockId block = 0;
    record::Category category{};
  };

  // Returns false if out of memory.
  bool take(MemEvent event) {
    if (event.device != requests_.info().device) {
      events_->push_back(event);
      return true;
    }
    switch (event.kind) {
      case EventKind::kAlloc:
        return allocate(event);
      case EventKind::kFree:
        free(event);
        return true;
      case EventKind::kRelabel:
        if (const auto live = live_.find(event.storage); live != live_.end()) live->second.category = event.category;
        events_->push_back(event);
        return true;
      case EventKind::kOutOfMemory:  // the request may succeed with another limit
        event.kind = EventKind::kAlloc;
        return allocate(event);
      case EventKind::kSegmentAlloc:
      case EventKind::kSegmentFree:
        return true;  // the allocator creates its own segments
    }
    return true;
  }

  bool allocate(MemEvent& event) {
    if (event.storage == graph_begin_ && graph_begin_ != 0) {
      allocator_.empty_cache();
      add_segments(event);
    }
    const auto block = allocator_.allocate(event.requested, event.stream);
    add_segments(event);
    if (!block) {
      run_out(event);
      return false;
    }
    const CachingAllocator::BlockPlace at = allocator_.placement(*block);
    live_[event.storage] = {*block, event.category};
    placements_.push_back({event.storage, first_segment_ + at.segment, at.offset});
    event.block = at.block;
    add_with_totals(event);
    return true;
  }

  void free(MemEvent& event) {
    const auto live = live_.find(event.storage);
    if (live == live_.end()) return;  // allocated before the recording
    event.block = allocator_.placement(live->second.block).block;
    allocator_.free(live->second.block);
    live_.erase(live);
    add_with_totals(event);
  }

  void add_with_totals(MemEvent& event) {
    event.allocator_allocated = allocator_.allocated();
    event.allocator_reserved = allocator_.reserved();
    events_->push_back(event);
  }

  void add_segments(const MemEvent& cause) {
    for (const CachingAllocator::SegmentChange& change : allocator_.changes()) {
      MemEvent event = cause;
      event.kind = change.taken ? EventKind::kSegmentAlloc : EventKind::kSegmentFree;
      event.storage = first_segment_ + change.segment;
      event.requested = 0;
      event.block = change.bytes;
      event.category = record::Category::kOther;
      event.allocator_allocated = event.allocator_reserved = record::kUnknownBytes;
      events_->push_back(event);
      if (change.taken) placements_.push_back({event.storage, event.storage, change.address});
    }
  }

  void run_out(const MemEvent& asked) {
    MemEvent event = asked;
    event.kind = EventKind::kOutOfMemory;
    event.storage = 0;
    event.requested = block_bytes(asked.requested);
    event.block = 0;
    add_with_totals(event);
    record::OutOfMemoryFacts facts{.requested = event.requested,
                                   .allocated = allocator_.allocated(),
                                   .reserved = allocator_.reserved(),
                                   .limit = limit_};
    for (const auto& [storage, live] : live_)
      facts.by_category[static_cast<std::size_t>(live.category)] += allocator_.placement(live.block).block;
    outcome_ = ran_out(requests_, asked, facts);
  }

  const record::Recording& requests_;
  CachingAllocator allocator_;
  Bytes limit_;
  std::uint64_t first_segment_;
  std::uint64_t graph_begin_;
  std::vector<MemEvent>* events_ = nullptr;
  std::vector<record::Placement> placements_;
  std::unordered_map<std::uint64_t, Live> live_;
  std::optional<record::Outcome> outcome_;
};

}  // namespace

record::Recording placed(const record::Recording& requests, Bytes limit) {
  return RequestPlacer(requests, limit).run();
}

}  // namespace headroom::predict
