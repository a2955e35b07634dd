// Memory events, marks and samples: the rows of a recording.
#pragma once

#include <cstdint>

#include "demos/record/scope.h"
#include "demos/record/units.h"

namespace headroom::record {

enum class EventKind : std::uint8_t {
  kAlloc,
  kFree,
  kSegmentAlloc,  // the caching allocator allocated from the device
  kSegmentFree,
  kRelabel,      // new category of a storage, valid from its birth
  kOutOfMemory,  // block: the segment that the device refused, 0 for a cap
};

inline constexpr Bytes kUnknownBytes = -1;

struct MemEvent {
  Nanoseconds time = 0;                       // host clock
  std::uint64_t storage = 0;                  // unique, never an address
  Bytes requested = 0;                        // 0 for segments
  Bytes block = 0;                            // size of the block or segment
  Bytes allocator_allocated = kUnknownBytes;  // the allocator's total after this event, if reported
  Bytes allocator_reserved = kUnknownBytes;
  EventKind kind = EventKind::kAlloc;
  DeviceKind device = DeviceKind::kCpu;
  Category category = Category::kOther;  // relabel: the new category
  Phase phase = Phase::kSetup;
  std::uint16_t layer = kNoLayer;
  std::uint16_t micro_batch = 0;
  std::uint16_t op = kNoOperator;  // index into the recording's operator table
  std::uint8_t stream = 0;

  bool operator==(const MemEvent&) const = default;
};

inline constexpr Nanoseconds kPending = -1;

// The run's phase, layer, micro-batch and step from here on. On a GPU the mark is also an event on the stream,
// reached at `device_time`. Device and host clock are equal at the first mark.
struct Mark {
  Nanoseconds host_time = 0;
  Nanoseconds device_time = kPending;  // CPU runs: equal to host_time
  std::uint64_t event_index = 0;       // events before this mark
  std::int32_t step = -1;              // -1: outside steps
  Phase phase = Phase::kSetup;
  std::uint16_t layer = kNoLayer;
  std::uint16_t micro_batch = 0;

  bool operator==(const Mark&) const = default;
};

enum class CounterKind : std::uint8_t { kProcessBytes, kDeviceUsedBytes, kUtilisationPercent, kPowerMilliwatts };

struct CounterSample {
  Nanoseconds time = 0;
  std::int64_t value = 0;
  CounterKind kind = CounterKind::kProcessBytes;

  bool operator==(const CounterSample&) const = default;
};

enum class MetricKind : std::uint8_t {
  kLoss,
  kTokensPerSecond,
  kStepNanoseconds,
  kLossScale,       // factor of this step's loss
  kSkippedSteps,    // steps so far without an update, because a gradient overflowed
  kEvaluationLoss,  // on held-out text, after this step
};

struct MetricSample {
  Nanoseconds time = 0;
  double value = 0;
  std::int32_t step = 0;
  MetricKind kind = MetricKind::kLoss;

  bool operator==(const MetricSample&) const = default;
};

}  // namespace headroom::record
