// Asks the planner which switches suffice.
#include "app/common/plan/advisor.h"

#include <utility>

namespace headroom::app {

Advisor::Advisor(const record::Params& params, PlannedCard card, const GivenUp& may)
    : params_(params), card_(std::move(card)), search_(params, card_.process.margin, may) {}

std::optional<Advice> Advisor::advise(StepPlanner& planner) {
  const bool complete = search_.advance([&](const record::Params& params) -> std::optional<experiments::Judged> {
    const auto answer = planner.on_card(params, card_);
    if (!answer) return std::nullopt;
    planner.forget();  // each answer is used once
    if (!start_) start_ = *answer;
    return experiments::Judged{.fit = answer->fit, .refused = !answer->refusal.empty()};
  });
  if (!complete) return std::nullopt;
  return Advice{*start_, search_.start().fit, params_, search_.sets(), search_.asked()};
}

}  // namespace headroom::app
