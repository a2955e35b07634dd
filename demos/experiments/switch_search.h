// Searches sets of memory switches by the closed form. No engine.
#pragma once

#include <vector>

#include "demos/experiments/technique_table.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::experiments {

struct GivenUp {
  bool speed = true, exactness = true;  // may be given up
};

struct SwitchSet {
  std::vector<const Technique*> switches;
  record::Params params;
  record::Bytes bytes = 0;  // by the closed form
  int exactness = 0, speed = 0;
  double times = 1;  // step time relative to that without switches, where measured
};

record::Bytes closed_form_peak(const record::Params& train_step);

// All valid sets of one to `most` switches. Sorted by cost (none, then speed, then exactness), then number of
// switches, time and bytes.
std::vector<SwitchSet> switch_sets(const record::Params& params, const GivenUp& may, std::size_t most);

// Cheapest first; ties in table order.
std::vector<const Technique*> in_order(std::vector<const Technique*> switches);

}  // namespace headroom::experiments
