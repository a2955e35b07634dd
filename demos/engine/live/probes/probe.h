// What the worker asks of a probe, whichever allocator it watches.
#pragma once

#include <vector>

#include "demos/record/placement.h"
#include "demos/record/units.h"

namespace headroom::live {

// Probes are installed once and live as long as the process: neither allocator has a way to let go of its hooks.
class Probe {
 public:
  // Begins to record into the sink, first with what is alive already. The sink is open.
  virtual void start() = 0;
  virtual void stop() = 0;
  // The storage at this address is of that category, and has been since its birth.
  virtual void relabel(const void* data, record::Category category) = 0;
  // Where the blocks of the events since the last call are, if this allocator has segments. On the allocating thread.
  virtual std::vector<record::Placement> take_placements() { return {}; }

 protected:
  ~Probe() = default;
};

}  // namespace headroom::live
