// Plans the step and its switches as answers arrive.
#include "app/page/verdict.h"

#include <algorithm>
#include <utility>

namespace headroom::app::page {

const std::vector<WayOut>& Verdict::ways() const {
  static const std::vector<WayOut> none;
  return ways_ == nullptr ? none : ways_->all();
}

std::vector<const WayOut*> Verdict::shown_ways() const {
  return ways_ == nullptr || !plan_ ? std::vector<const WayOut*>{} : ways_->shown();
}

bool Verdict::clear() {
  planner_.reset();
  return std::exchange(plan_, std::nullopt).has_value();
}

bool Verdict::follow(const Request& request) {
  if (planner_ == nullptr)
    planner_ = std::make_unique<StepPlanner>(request.service, request.why_formula, nullptr,
                                             StepPlanner::Answers::kAtOnce);
  else if (!planner_->waits())
    return ways_ != nullptr && ways_->poll();
  record::Params without_limit = request.settings;  // the card is the limit
  (void)without_limit.set("cap", record::ParamValue(std::int64_t{0}));
  plan_ = planner_->plan(without_limit, {request.card});
  if (!plan_) return true;
  plan_->params = request.settings;
  if (planner_->waits()) return true;
  planner_->forget();
  if (!plan_->refusal.empty() || request.keeps_ways) return true;
  ways_ = std::make_unique<WaysOut>(request.service, request.why_formula, without_limit, request.card,
                                    plan_->allocated, request.own_keys, ways());
  ways_->poll();
  return true;
}

void Verdict::follow_ways(const record::Params& settings) {
  if (ways_ != nullptr) ways_->follow(settings);
}

void Verdict::note_turned(const WayOut& way, const record::Params& from) {
  last_turned_ = {way.what, from, *way.turned};
}

std::optional<record::Params> Verdict::turned_back(const record::Params& now) {
  if (last_turned_.what == nullptr || !(now == last_turned_.to)) return std::nullopt;
  std::swap(last_turned_.from, last_turned_.to);
  return last_turned_.to;
}

const WayOut* Verdict::last_turned() const {
  const auto found = std::ranges::find(ways(), last_turned_.what, &WayOut::what);
  return found == ways().end() ? nullptr : &*found;
}

}  // namespace headroom::app::page
