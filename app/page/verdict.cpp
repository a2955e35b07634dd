// Plans the step and its switches as answers arrive.
#include "app/page/verdict.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "demos/experiments/combinations.h"

namespace headroom::app::page {

using record::Bytes;

namespace {

constexpr double kNoChange = 0.005;  // share of the peak; smaller changes are hidden

WayOut way_out(const experiments::Technique& what, const record::Params& params) {
  WayOut way{.what = &what, .on = experiments::is_on(what, params)};
  auto turned = way.on ? experiments::turned_off(what, params) : experiments::turned_on(what, params);
  if (!turned) {
    way.why_not = way.on ? "The settings already turn it on." : "It has no effect with these settings.";
    return way;
  }
  if (auto reason = experiments::refused_combination(*turned))
    way.why_not = *std::move(reason);
  else
    way.turned = std::move(turned);
  return way;
}

bool sets_one_of(const experiments::Technique& what, std::span<const std::string> keys) {
  return std::ranges::any_of(what.keys(),
                             [&](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); });
}

}  // namespace

WaysOut::WaysOut(Predictions* predictions, const std::string& why_not, const record::Params& params, PlannedCard card,
                 record::Bytes allocated, std::span<const std::string> own, const std::vector<WayOut>& before)
    : card_(std::move(card)),
      allocated_(allocated),
      planner_(predictions, why_not, nullptr, StepPlanner::Answers::kAtOnce) {
  for (const experiments::Technique& what : experiments::techniques())
    if (what.saves_memory || what.kernel || sets_one_of(what, own)) all_.push_back(way_out(what, params));
  for (WayOut& way : all_) way.own = sets_one_of(*way.what, own);
  std::ranges::stable_partition(all_, &WayOut::own);
  for (std::size_t i = 0; i < before.size(); ++i) all_[i].change = before[i].change;
}

std::vector<const WayOut*> WaysOut::shown() const {
  std::vector<const WayOut*> shown;
  for (const WayOut& way : all_) {
    if (!way.turned) continue;  // impossible, or on without a switch
    const double change = way.change ? std::abs(static_cast<double>(*way.change)) : static_cast<double>(allocated_);
    if (way.on || way.own || change >= kNoChange * static_cast<double>(allocated_)) shown.push_back(&way);
  }
  return shown;
}

void WaysOut::follow(const record::Params& params) {
  next_ = all_.size();
  for (WayOut& way : all_) {
    const std::optional<Bytes> change = way.change;
    const bool own = way.own;
    way = way_out(*way.what, params);
    way.change = change;
    way.own = own;
  }
}

bool WaysOut::poll() {
  const std::size_t before = next_;
  for (; next_ < all_.size(); ++next_) {
    WayOut& way = all_[next_];
    if (!way.turned) way.change.reset();
    if (!way.turned) continue;
    const auto answer = planner_.on_card(*way.turned, card_);
    if (!answer) break;  // pending
    planner_.forget();
    if (!answer->refusal.empty()) {
      way.turned.reset();
      way.change.reset();
      way.why_not = answer->refusal;
      continue;
    }
    way.current = true;
    way.change = answer->allocated - allocated_;
    way.verdict = answer->fit.verdict;
  }
  return next_ != before;
}

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
    planner_ =
        std::make_unique<StepPlanner>(request.service, request.why_formula, nullptr, StepPlanner::Answers::kAtOnce);
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
  ways_ = std::make_unique<WaysOut>(request.service, request.why_formula, without_limit, request.card, plan_->allocated,
                                    request.own_keys, ways());
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
