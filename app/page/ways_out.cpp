// Predicts each switch's effect.
#include "app/page/ways_out.h"

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

}  // namespace headroom::app::page
