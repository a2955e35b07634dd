// Positions of a GPU run's blocks in segments.
#pragma once

#include <cstdint>

#include "demos/record/units.h"

namespace headroom::record {

// Place of a live block, or of a segment itself. Never an address of the process.
struct Placement {
  std::uint64_t storage = 0;  // block or segment, numbered as in events
  std::uint64_t segment = 0;  // the block's segment; for a segment, its own number
  // A block's offset is from its segment's begin, a segment's from the run's first segment (possibly negative).
  Bytes offset = 0;

  bool operator==(const Placement&) const = default;
};

}  // namespace headroom::record
