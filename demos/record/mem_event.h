// What happened to memory, and when: the rows of a recording.
#pragma once

#include <cstdint>

#include "demos/record/scope.h"
#include "demos/record/units.h"

namespace headroom::record {

enum class EventKind : std::uint8_t {
  kAlloc,
  kFree,
  kSegmentAlloc,  // the caching allocator took memory from the device
  kSegmentFree,
  kRelabel,      // changes a storage's category; holds from its birth
  kOutOfMemory,  // requested: what was asked for; block: the segment that the device refused, 0 if a cap did
};

inline constexpr Bytes kUnknownBytes = -1;

struct MemEvent {
  Nanoseconds time = 0;                       // host clock
  std::uint64_t storage = 0;                  // unique in a recording; never an address
  Bytes requested = 0;                        // bytes asked for (alloc and free alike); segments: 0
  Bytes block = 0;                            // bytes taken: the block, or the segment
  Bytes allocator_allocated = kUnknownBytes;  // the allocator's own total after this event, where it reports one
  Bytes allocator_reserved = kUnknownBytes;
  EventKind kind = EventKind::kAlloc;
  DeviceKind device = DeviceKind::kCpu;
  Category category = Category::kOther;  // relabel: the new category
  Phase phase = Phase::kSetup;
  std::uint16_t layer = kNoLayer;
  std::uint16_t micro_batch = 0;
  std::uint16_t op = kNoOperator;  // index into the recording's operator table
  std::uint8_t stream = 0;
  std::uint8_t rank = 0;

  bool operator==(const MemEvent&) const = default;
};

inline constexpr Nanoseconds kPending = -1;

// From here on the run is in this phase, layer, micro-batch and step. On a GPU the mark is also an event on the stream:
// `device_time` is when the device reached it (same origin as the host clock: the run's first mark has both equal).
struct Mark {
  Nanoseconds host_time = 0;
  Nanoseconds device_time = kPending;  // CPU runs: equal to host_time
  std::uint64_t event_index = 0;       // events before this mark
  std::int32_t step = -1;              // -1: outside a step
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
  kLossScale,       // what this step's loss was multiplied by
  kSkippedSteps,    // steps so far that changed nothing, because a gradient had overflowed
  kEvaluationLoss,  // on held-out text, behind this step
};

struct MetricSample {
  Nanoseconds time = 0;
  double value = 0;
  std::int32_t step = 0;
  MetricKind kind = MetricKind::kLoss;

  bool operator==(const MetricSample&) const = default;
};

}  // namespace headroom::record
