// Where the blocks of a GPU run are: PyTorch's allocator cuts them from segments.
#pragma once

#include <cstdint>

#include "demos/record/units.h"

namespace headroom::record {

// Of a block, for as long as it lives; and of a segment, which is in itself. Never an address of the process.
struct Placement {
  std::uint64_t storage = 0;  // the block's or the segment's number, as events name it
  std::uint64_t segment = 0;  // the number of the segment that holds it; a segment's own
  // Of the block from the segment's begin; of a segment from the begin of the run's first one, either way.
  Bytes offset = 0;

  bool operator==(const Placement&) const = default;
};

}  // namespace headroom::record
