// Finds the cheapest switches that make a training step fit on a card, with predicted bytes.
#pragma once

#include <functional>
#include <optional>

#include "app/common/plan/step_plan.h"
#include "demos/experiments/advice.h"
#include "demos/record/schema.h"

namespace headroom::app {

using experiments::AdvisedSet;
using experiments::GivenUp;

struct Advice : StepAnswer {
  predict::Fit fit = {};  // without any switch
  record::Params params = {};
  std::vector<AdvisedSet> sets = {};  // see experiments::AdviceSearch::sets()
  int asked = 0;

  // With the first set, or without switches if there is none.
  bool fits() const { return best().verdict == predict::Verdict::kFits; }
  const predict::Fit& best() const { return sets.empty() ? fit : sets.front().fit; }
};

class Advisor {
 public:
  Advisor(const record::Params& params, PlannedCard card, const GivenUp& may);

  // Asks as far as `planner` answers; a later call continues. Empty: the answer is pending, or `planner` was stopped.
  std::optional<Advice> advise(StepPlanner& planner);

 private:
  record::Params params_;
  PlannedCard card_;
  experiments::AdviceSearch search_;
  std::optional<StepAnswer> start_;
};

}  // namespace headroom::app
