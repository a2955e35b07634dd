// The worker's interface to an allocator's probe.
#pragma once

#include <vector>

#include "demos/record/rows/placement.h"
#include "demos/record/units.h"

namespace headroom::live {

// Installed once, for the life of the process: hooks cannot be removed.
class Probe {
 public:
  // Starts recording into the open sink, beginning with the live storages.
  virtual void start() = 0;
  virtual void stop() = 0;
  // Sets a storage's category retroactively from its birth.
  virtual void relabel(const void* data, record::Category category) = 0;
  // Placements of blocks since the last call, if the allocator has segments. Call it on the allocating thread.
  virtual std::vector<record::Placement> take_placements() { return {}; }

 protected:
  ~Probe() = default;
};

}  // namespace headroom::live
