// Asks the judge about one step at a time.
#include "demos/experiments/advice.h"

#include <algorithm>
#include <utility>

namespace headroom::experiments {

using predict::Verdict;

namespace {

constexpr std::size_t kMostSwitches = 4, kMostSets = 3;
constexpr int kMostAsked = 12;

}  // namespace

std::string labels_of(const AdvisedSet& set) {
  std::string labels;
  for (const AdvisedSwitch& each : set.switches) labels += (labels.empty() ? "" : ", ") + each.what->label;
  return labels;
}

std::optional<double> step_time(const AdvisedSet& set) {
  double times = 1;
  for (const AdvisedSwitch& each : set.switches) {
    const Cost& cost = each.what->cost;
    if (cost.speed && cost.times <= 0) return std::nullopt;
    if (cost.times > 0) times *= cost.times;
  }
  return times;
}

AdviceSearch::AdviceSearch(record::Params params, record::Bytes margin, const GivenUp& may)
    : params_(std::move(params)), margin_(margin), may_(may) {}

bool AdviceSearch::advance(const Judge& judge) { return begin(judge) && search(judge) && fall_back(judge); }

bool AdviceSearch::begin(const Judge& judge) {
  if (start_) return true;
  start_ = judge(params_);
  if (!start_) return false;
  if (!start_->refused && start_->fit.verdict != Verdict::kFits)
    candidates_ = switch_sets(params_, may_, kMostSwitches);
  return true;
}

bool AdviceSearch::search(const Judge& judge) {
  const record::Bytes limit = start_->fit.limit - margin_;
  for (;;) {
    if (described_ && !describe(judge)) return false;
    if (sets_.size() == kMostSets || asked_ == kMostAsked || next_ == candidates_.size()) return true;
    const SwitchSet& candidate = candidates_[next_];
    if (candidate.bytes <= limit && !has_found_part_of(candidate)) {
      const std::optional<Judged> judged = judge(candidate.params);
      if (!judged) return false;
      if (!judged->refused && judged->fit.verdict == Verdict::kFits)
        describe_next(candidate, judged->fit);
      else
        ++asked_;
    }
    ++next_;
  }
}

bool AdviceSearch::fall_back(const Judge& judge) {
  if (!sets_.empty() || candidates_.empty()) return true;
  const SwitchSet& smallest = *std::ranges::min_element(candidates_, {}, &SwitchSet::bytes);
  if (!described_) {
    const std::optional<Judged> judged = judge(smallest.params);
    if (!judged) return false;
    describe_next(smallest, judged->fit);
  }
  return describe(judge);
}

void AdviceSearch::describe_next(const SwitchSet& set, const predict::Fit& fit) {
  described_ = Described{&set, fit, {.switches = {}, .params = params_, .fit = fit}};
}

bool AdviceSearch::describe(const Judge& judge) {
  AdvisedSet& set = described_->so_far;
  const std::vector<const Technique*> order = in_order(described_->set->switches);
  while (set.switches.size() < order.size()) {
    const Technique& next = *order[set.switches.size()];
    const record::Params with = turned_on(next, set.params).value_or(set.params);
    const std::optional<Judged> judged = judge(with);
    if (!judged) return false;
    set.params = with;
    set.switches.push_back({.what = &next, .fit = judged->fit});
  }
  set.params = described_->set->params;
  sets_.push_back(std::move(set));
  described_.reset();
  return true;
}

bool AdviceSearch::has_found_part_of(const SwitchSet& set) const {
  const auto contains = [&](const AdvisedSwitch& each) {
    return std::ranges::find(set.switches, each.what) != set.switches.end();
  };
  return std::ranges::any_of(sets_,
                             [&](const AdvisedSet& found) { return std::ranges::all_of(found.switches, contains); });
}

}  // namespace headroom::experiments
