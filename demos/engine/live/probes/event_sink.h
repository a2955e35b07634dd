// Collects the probes' events: adds time and tag, and gives marks their position among the events.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "demos/engine/live/probes/ring.h"
#include "demos/engine/live/probes/spin_lock.h"
#include "demos/record/recording.h"
#include "demos/record/rows/mem_event.h"
#include "demos/record/scope.h"

namespace headroom::live {

// A refused allocation, and the worker's tag at that time.
struct Refused {
  record::Bytes requested = 0;
  record::Bytes segment = 0;  // size of the segment that the device refused; 0: refused by a cap
  record::Bytes limit = 0;    // the cap, or the available memory; 0: all memory of the device
  record::Bytes allocated = 0;
  record::Bytes reserved = 0;
  record::ByCategory by_category{};  // zero if the run is not recorded
  record::Tag tag;
};

// One per process, open during a recorded run. push() may be called inside an allocator's lock: it takes a spin lock,
// copies and returns.
class EventSink {
 public:
  explicit EventSink(std::size_t capacity = EventRing::kDefaultCapacity) : ring_(capacity) {}

  // Starts the clock of a run. If `recorded`, push() accepts events until close(). The ring is not cleared, since its
  // consumer may be active.
  void open(bool recorded);
  void close() { open_.store(false, std::memory_order_relaxed); }
  bool is_open() const { return open_.load(std::memory_order_relaxed); }

  using Clock = std::chrono::steady_clock;
  record::Nanoseconds now() const { return time_of(Clock::now()); }
  record::Nanoseconds time_of(Clock::time_point time) const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - start_).count();
  }
  // CLOCK_MONOTONIC at time zero.
  record::Nanoseconds clock_start() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(start_.time_since_epoch()).count();
  }
  // An id, never reused.
  std::uint64_t next_id() { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  // Fills in time, phase, layer, micro-batch and operator; for an allocation also the category.
  void push(record::MemEvent event) noexcept;
  // Like push(), for storages from before the run: no phase or layer, category as given.
  void push_existing(record::MemEvent event) noexcept;
  record::Mark mark(const record::Tag& tag, std::int32_t step);
  // Pushes the recording's last event and closes the sink.
  void refused(const Refused& refusal, record::DeviceKind device) noexcept;

  // The first refusal since open(), recorded or not.
  std::optional<Refused> first_refusal() const;

  EventRing& ring() { return ring_; }
  static record::Category category_now() { return record::current_tag().category; }

 private:
  void push_locked(const record::MemEvent& event) noexcept {
    if (ring_.push(event)) ++accepted_;
  }

  Clock::time_point start_ = Clock::now();
  std::atomic<bool> open_{false};
  std::atomic<std::uint64_t> next_id_{1};
  mutable SpinLock lock_;  // guards the members below, and serializes producers
  EventRing ring_;
  std::uint64_t accepted_ = 0;
  std::optional<Refused> refusal_;
};

}  // namespace headroom::live
