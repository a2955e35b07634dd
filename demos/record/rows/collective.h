// Collective operations between the ranks of a run.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "demos/record/scope.h"
#include "demos/record/units.h"

namespace headroom::record {

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kSend,
  kReceive,
  kAllToAll,
  kBarrier,
};
std::string_view label_of(CollectiveKind kind);  // "all-reduce"

// The dimension of the mesh of ranks that a collective runs along.
enum class Axis : std::uint8_t { kData, kShards, kTensor, kPipeline, kContext, kExpert };

struct Collective {
  Nanoseconds issued = 0;          // host clock
  Nanoseconds begin = 0, end = 0;  // as Mark::device_time; CPU runs: host clock
  Bytes bytes = 0;                 // the whole buffer, as nccl-tests count
  std::uint32_t sequence = 0;      // counts this rank's collectives on this axis
  std::int32_t step = -1;          // -1: outside steps
  std::uint16_t layer = kNoLayer;
  std::uint16_t micro_batch = 0;
  std::uint16_t ranks = 1;  // on this axis
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Axis axis = Axis::kData;
  Phase phase = Phase::kSetup;

  bool operator==(const Collective&) const = default;
};

// Returns the bytes that one rank sends in a ring (nccl-tests, doc/PERFORMANCE.md): all-reduce 2 b (n − 1) / n;
// reduce-scatter, all-gather and all-to-all b (n − 1) / n; broadcast and send b; receive and barrier 0.
constexpr Bytes sent_bytes(const Collective& collective) {
  const Bytes n = collective.ranks;
  // Split, so that the product does not overflow.
  const Bytes all_but_own = collective.bytes / n * (n - 1) + collective.bytes % n * (n - 1) / n;
  switch (collective.kind) {
    case CollectiveKind::kAllReduce:
      return 2 * all_but_own;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
      return all_but_own;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kSend:
      return collective.bytes;
    case CollectiveKind::kReceive:
    case CollectiveKind::kBarrier:
      return 0;
  }
  return 0;
}

struct CollectiveSums {
  int count = 0;
  Bytes sent = 0;        // by this rank, in a ring
  Nanoseconds time = 0;  // includes waiting for other ranks; may overlap with other work
};
// Returns the sums of one step, or of the whole run if `step` is -1.
CollectiveSums sums_of(std::span<const Collective> collectives, std::int32_t step);

}  // namespace headroom::record
