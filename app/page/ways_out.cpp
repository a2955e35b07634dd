// What each technique would change.
#include "app/page/ways_out.h"

#include <utility>

#include "demos/experiments/combinations.h"
#include "demos/experiments/switches.h"

namespace headroom::app::page {

using record::Bytes;

namespace {

// What does not go together is refused with the reason; settings that do not go together already are not blamed.
WayOut way_out(const predict::MemorySwitch& what, const record::Params& params) {
  WayOut way{.what = &what, .on = experiments::is_on(what, params)};
  auto turned = way.on ? experiments::turned_off(what, params) : experiments::turned_on(what, params);
  if (!turned) {
    way.why_not = way.on ? "It is on without a switch." : "The batch is too small for it.";
    return way;
  }
  if (auto reason = experiments::refused_combination(*turned))
    way.why_not = *std::move(reason);
  else
    way.turned = std::move(turned);
  return way;
}

}  // namespace

WaysOut::WaysOut(Predictions* predictions, const std::string& why_not, const record::Params& params, PlannedCard card,
                 record::Bytes allocated, const std::vector<WayOut>& before)
    : card_(std::move(card)),
      allocated_(allocated),
      planner_(predictions, why_not, nullptr, StepPlanner::Answers::kAtOnce) {
  for (const predict::MemorySwitch& what : predict::memory_switches()) all_.push_back(way_out(what, params));
  for (std::size_t i = 0; i < before.size(); ++i) all_[i].change = before[i].change;
}

void WaysOut::follow(const record::Params& params) {
  next_ = all_.size();
  for (WayOut& way : all_) {
    const std::optional<Bytes> change = way.change;
    way = way_out(*way.what, params);
    way.change = change;
  }
}

bool WaysOut::poll() {
  const std::size_t before = next_;
  for (; next_ < all_.size(); ++next_) {
    WayOut& way = all_[next_];
    if (!way.turned) way.change.reset();
    if (!way.turned) continue;
    const auto answer = planner_.on_card(*way.turned, card_);
    if (!answer) break;  // on its way
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
