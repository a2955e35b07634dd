// Which switches make a training step fit on a card: the fewest, in which order, and what each gives up.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/step_plan.h"
#include "demos/predict/techniques.h"
#include "demos/record/schema.h"

namespace headroom::app {

struct GivenUp {
  bool speed = true, exactness = true;  // may be
};

struct AdvisedSwitch {
  const predict::MemorySwitch* what = nullptr;
  record::Bytes bytes = 0;      // predicted with this one and those before it
  std::optional<double> times;  // a step takes so many times as long, as measured
};

struct Advice {
  std::string refusal, why_formula;     // as of a StepPlan
  record::Bytes before = 0;             // without any switch
  predict::Fit fit;                     // with all of them
  std::vector<AdvisedSwitch> switches;  // in the order to turn them on; empty and fits: nothing is needed
  record::Params params;                // with all of them
  int asked = 0;                        // sets that the closed form let through and the prediction refused
};

// A step's time with a switch as a multiple of the time without, from a recording; nothing: not measured.
using MeasuredTimes = std::function<std::optional<double>(std::string_view recording)>;

// Of sets of up to four switches, the first that fits: fewest, then least given up, then quickest, then smallest. The closed
// form puts them in this order, and the planner's prediction decides. Where none fits, the smallest set. Nothing: stopped.
std::optional<Advice> advise(const record::Params& params, const PlannedCard& card, const GivenUp& may,
                             StepPlanner& planner, const MeasuredTimes& times);

}  // namespace headroom::app
