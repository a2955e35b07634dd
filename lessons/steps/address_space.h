// The allocator's memory at one event: segments, their blocks and gaps.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/record/ledger.h"

namespace headroom::lessons {

struct PlacedBlock {
  record::Bytes begin = 0, end = 0;  // relative to the segment
  const record::Storage* storage = nullptr;
};

struct PlacedSegment {
  record::Bytes address = 0;  // relative to the run's first segment; may be negative
  record::Bytes bytes = 0;
  std::vector<PlacedBlock> blocks;  // by address
};

struct FreeRun {
  record::Bytes begin = 0, end = 0;
};
std::vector<FreeRun> free_runs(const PlacedSegment& segment);

struct AddressSpace {
  std::vector<PlacedSegment> segments;     // by address
  record::Bytes reserved = 0, blocks = 0;  // sums over segments and blocks
  record::Bytes rounding = 0;              // bytes of blocks beyond the requests
  record::Bytes largest_free = 0;
  std::size_t free_runs = 0;
  bool known = true;  // false: pages inside a segment were freed, and the run does not say which
};

// The state after `event` of a run with placements. With expandable segments, adjacent pages are one segment.
AddressSpace address_space_at(const record::Ledger& run, std::uint64_t event);

}  // namespace headroom::lessons
