// What is where in the memory that the allocator holds at one event: segments, the blocks in them, the gaps between.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/record/ledger.h"

namespace headroom::lessons {

struct PlacedBlock {
  record::Bytes begin = 0, end = 0;  // from the segment's begin
  const record::Storage* storage = nullptr;
};

struct PlacedSegment {
  record::Bytes address = 0;  // from the run's first segment, either way
  record::Bytes bytes = 0;
  std::vector<PlacedBlock> blocks;  // by address
};

// A gap in a segment that no block fills.
struct FreeRun {
  record::Bytes begin = 0, end = 0;
};
std::vector<FreeRun> free_runs(const PlacedSegment& segment);

struct AddressSpace {
  std::vector<PlacedSegment> segments;     // by address
  record::Bytes reserved = 0, blocks = 0;  // of all segments, of all blocks in them
  record::Bytes rounding = 0;              // of the blocks: more than was asked for
  record::Bytes largest_free = 0;          // the largest free run
  std::size_t free_runs = 0;
  bool known = true;  // false: pages in the middle of a segment were given back, and the run does not say which
};

// After `event` of a run whose blocks have places (Recording::placements()). Pages that were mapped one behind the other are
// one segment where the run has expandable segments.
AddressSpace address_space_at(const record::Ledger& run, std::uint64_t event);

}  // namespace headroom::lessons
