// Which sets of switches can be turned on for a training step, the least given up first, by the closed form. No engine.
#pragma once

#include <optional>
#include <vector>

#include "demos/predict/techniques.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::experiments {

struct GivenUp {
  bool speed = true, exactness = true;  // may be
};

struct SwitchSet {
  std::vector<const predict::MemorySwitch*> switches;
  record::Params params;
  record::Bytes bytes = 0;  // by the closed form
  int exactness = 0, speed = 0;
  double times = 1;  // as long as without, as far as it was measured
};

// By closed form, with the model that the settings name.
record::Bytes closed_form_peak(const record::Params& train_step);

// All sets of one to `most` switches that can be: first those that give up least (nothing, then speed, then exactness), of
// those the fewest, then the quickest, then the smallest.
std::vector<SwitchSet> switch_sets(const record::Params& params, const GivenUp& may, std::size_t most);

// Cheap ones first: what gives up nothing, then speed, then exactness; of those, as in the table.
std::vector<const predict::MemorySwitch*> in_order(std::vector<const predict::MemorySwitch*> switches);

}  // namespace headroom::experiments
