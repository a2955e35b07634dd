// Which switches make a training step fit on a card: the cheapest, in which order, and what each gives up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/step_plan.h"
#include "demos/experiments/switch_search.h"
#include "demos/record/schema.h"

namespace headroom::app {

using experiments::GivenUp;

struct AdvisedSwitch {
  const predict::MemorySwitch* what = nullptr;
  record::Bytes bytes = 0;  // reserved with this one and those before it, as of Fit
};

struct Advice {
  std::string refusal, why_formula;  // as of a StepPlan
  bool beyond_step = false;
  record::Bytes before = 0;             // reserved without any switch, as of Fit
  predict::Fit fit;                     // with all of them
  std::vector<AdvisedSwitch> switches;  // in the order to turn them on; empty and fits: nothing is needed
  record::Params params;                // with all of them
  int asked = 0;                        // sets that the closed form let through and the prediction refused
};

// Of sets of up to four switches, the first that fits, in the order of experiments::switch_sets(): what gives up least comes
// first. The closed form leaves out what is too large, and the planner's prediction decides. Where none fits, the smallest
// set. Nothing: stopped.
std::optional<Advice> advise(const record::Params& params, const PlannedCard& card, const GivenUp& may,
                             StepPlanner& planner);

}  // namespace headroom::app
