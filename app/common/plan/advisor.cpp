// Asks the planner which switches suffice.
#include "app/common/plan/advisor.h"

#include <algorithm>
#include <utility>

namespace headroom::app {

using experiments::in_order;
using experiments::SwitchSet;
using experiments::turned_on;
using record::Bytes;
using record::Params;

namespace {

std::optional<Advice> described(Advice advice, const SwitchSet& chosen, const PlannedCard& card, StepPlanner& planner) {
  Params so_far = advice.params;
  for (const experiments::Technique* const each : in_order(chosen.switches)) {
    if (auto on = turned_on(*each, so_far)) so_far = *std::move(on);
    const auto answer = planner.on_card(so_far, card);
    if (!answer) return std::nullopt;
    advice.switches.push_back({.what = each, .bytes = answer->fit.reserved});
  }
  const auto all = planner.on_card(chosen.params, card);
  if (!all) return std::nullopt;
  advice.params = chosen.params;
  advice.fit = all->fit;
  return advice;
}

}  // namespace

std::optional<Advice> advise(const Params& params, const PlannedCard& card, const GivenUp& may, StepPlanner& planner) {
  constexpr std::size_t kMostSwitches = 4;
  constexpr int kMostAsked = 12;
  const auto start = planner.on_card(params, card);
  if (!start) return std::nullopt;
  Advice advice{*start, start->fit.reserved, start->fit};
  advice.params = params;
  if (!advice.refusal.empty() || advice.fit.verdict == predict::Verdict::kFits) return advice;
  const Bytes limit = start->fit.limit - card.process.margin;
  const std::vector<SwitchSet> candidates = experiments::switch_sets(params, may, kMostSwitches);
  for (const SwitchSet& candidate : candidates) {
    if (candidate.bytes > limit || advice.asked == kMostAsked) continue;
    const auto answer = planner.on_card(candidate.params, card);
    if (!answer) return std::nullopt;
    if (answer->refusal.empty() && answer->fit.verdict == predict::Verdict::kFits)
      return described(std::move(advice), candidate, card, planner);
    ++advice.asked;
  }
  const auto smallest = std::ranges::min_element(candidates, {}, &SwitchSet::bytes);
  if (smallest == candidates.end()) return advice;
  return described(std::move(advice), *smallest, card, planner);
}

}  // namespace headroom::app
