// A search through sets of switches.
#include "app/common/advisor.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "app/common/switches.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/train_step_model.h"
#include "demos/predict/closed_form.h"
#include "demos/predict/step_settings.h"

namespace headroom::app {

using predict::MemorySwitch;
using record::Bytes;
using record::Params;

namespace {

struct Candidate {
  std::vector<const MemorySwitch*> switches;
  Params params;
  Bytes bytes = 0;  // by the closed form
  int exactness = 0, speed = 0;
  double times = 1;
};

class Search {
 public:
  Search(const Params& params, const GivenUp& may, const MeasuredTimes& times) : start_(params), times_(times) {
    if (const auto model = experiments::described_model(predict::step_settings(params))) model_ = model.value();
    for (const MemorySwitch& each : predict::memory_switches())
      if ((may.speed || !each.costs_speed) && (may.exactness || !each.costs_exactness)) usable_.push_back(&each);
  }

  // All sets of one to `most` switches that can be, fewest first and so on.
  std::vector<Candidate> candidates(std::size_t most) {
    grow({.switches = {}, .params = start_}, 0, most);
    std::ranges::sort(found_, {}, [](const Candidate& each) {
      return std::tuple(each.switches.size(), each.exactness, each.speed, each.times, each.bytes);
    });
    return std::move(found_);
  }

 private:
  void grow(const Candidate& from, std::size_t next, std::size_t most) {
    if (from.switches.size() == most) return;
    for (std::size_t i = next; i < usable_.size(); ++i) {
      const MemorySwitch& what = *usable_[i];
      auto on = turned_on(what, from.params);
      if (!on) continue;
      Candidate with = from;
      with.switches.push_back(&what);
      with.params = *std::move(on);
      // A later switch of the same setting takes an earlier one back.
      if (!std::ranges::all_of(with.switches, [&](const auto* each) { return is_on(*each, with.params); })) continue;
      with.exactness += what.costs_exactness ? 1 : 0;
      with.speed += what.costs_speed ? 1 : 0;
      // Where nothing was measured, what costs speed is taken to cost more than what was.
      constexpr double kUnmeasured = 10;
      with.times *= times_(what.recording).value_or(what.costs_speed ? kUnmeasured : 1);
      grow(with, i + 1, most);
      if (experiments::refused_combination(with.params, record::DeviceKind::kGpu)) continue;
      with.bytes = closed_form_bytes(with.params);
      found_.push_back(std::move(with));
    }
  }

  Bytes closed_form_bytes(const Params& params) const {
    predict::StepSettings step = predict::step_settings(params);
    if (model_) {
      step.model = model_->config;
      step.extension = model_->extension;
    }
    return record::total(predict::closed_form(step).peak().bytes);
  }

  Params start_;
  const MeasuredTimes& times_;
  std::optional<llama::DescribedModel> model_;  // read once
  std::vector<const MemorySwitch*> usable_;
  std::vector<Candidate> found_;
};

// Cheap ones first: what gives up nothing, then speed, then exactness; of those, as in the table.
std::vector<const MemorySwitch*> in_order(std::vector<const MemorySwitch*> switches) {
  std::ranges::stable_sort(
      switches, {}, [](const MemorySwitch* each) { return std::tuple(each->costs_exactness, each->costs_speed); });
  return switches;
}

// Turned on one after the other. Nothing: stopped.
std::optional<Advice> described(Advice advice, const Candidate& chosen, const PlannedCard& card, StepPlanner& planner,
                                const MeasuredTimes& times) {
  Params so_far = advice.params;
  for (const MemorySwitch* const each : in_order(chosen.switches)) {
    if (auto on = turned_on(*each, so_far)) so_far = *std::move(on);
    const auto answer = planner.on_card(so_far, card);
    if (!answer) return std::nullopt;
    advice.switches.push_back({.what = each, .bytes = answer->bytes, .times = times(each->recording)});
  }
  const auto all = planner.on_card(chosen.params, card);
  if (!all) return std::nullopt;
  advice.params = chosen.params;
  advice.fit = all->fit;
  return advice;
}

}  // namespace

std::optional<Advice> advise(const Params& params, const PlannedCard& card, const GivenUp& may, StepPlanner& planner,
                             const MeasuredTimes& times) {
  constexpr std::size_t kMostSwitches = 4;
  constexpr int kMostAsked = 12;
  const auto start = planner.on_card(params, card);
  if (!start) return std::nullopt;
  Advice advice{.refusal = start->refusal,
                .why_formula = start->why_formula,
                .before = start->bytes,
                .fit = start->fit,
                .switches = {},
                .params = params};
  if (!advice.refusal.empty() || advice.fit.verdict == predict::Verdict::kFits) return advice;
  const Bytes limit = start->fit.limit - card.process.margin;
  const std::vector<Candidate> candidates = Search(params, may, times).candidates(kMostSwitches);
  for (const Candidate& candidate : candidates) {
    if (candidate.bytes > limit || advice.asked == kMostAsked) continue;
    const auto answer = planner.on_card(candidate.params, card);
    if (!answer) return std::nullopt;
    if (answer->refusal.empty() && answer->fit.verdict == predict::Verdict::kFits)
      return described(std::move(advice), candidate, card, planner, times);
    ++advice.asked;
  }
  const auto smallest = std::ranges::min_element(candidates, {}, &Candidate::bytes);
  if (smallest == candidates.end()) return advice;
  return described(std::move(advice), *smallest, card, planner, times);
}

}  // namespace headroom::app
