// Finds the cheapest switches that make a training step fit on a card, and what each gives up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/plan/step_plan.h"
#include "demos/experiments/switch_search.h"
#include "demos/record/schema.h"

namespace headroom::app {

using experiments::GivenUp;

struct AdvisedSwitch {
  const experiments::Technique* what = nullptr;
  record::Bytes bytes = 0;  // reserved with this switch and all before it
};

struct Advice : StepAnswer {
  record::Bytes before = 0;                  // reserved without any switch
  predict::Fit fit = {};                     // with all switches
  std::vector<AdvisedSwitch> switches = {};  // in the order to turn them on
  record::Params params = {};                // with all switches
  int asked = 0;                             // sets that passed the closed form but failed the prediction
};

// Tries sets of up to four switches in the order of experiments::switch_sets(). The closed form rejects sets that are
// too large; the planner's prediction decides. If none fits, returns the set with the fewest bytes by the closed form.
// Empty if stopped.
std::optional<Advice> advise(const record::Params& params, const PlannedCard& card, const GivenUp& may,
                             StepPlanner& planner);

}  // namespace headroom::app
