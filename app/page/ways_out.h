// The techniques as switches of the page's step: what each one would change now, given what is on.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/common/step_plan.h"
#include "demos/predict/techniques.h"

namespace headroom::app::page {

struct WayOut {
  const predict::MemorySwitch* what = nullptr;
  bool on = false;
  std::optional<record::Params> turned;  // the settings with it turned over; nothing: it does not go with the others
  std::string why_not;                   // then
  // Of the peak, turned over less as it is; nothing: on its way, and not known for other settings before.
  std::optional<record::Bytes> change;
  bool current = false;                     // it is of these settings
  std::optional<predict::Verdict> verdict;  // on the card, turned over
  bool own = false;                         // a switch that the page is about
};

class WaysOut {
 public:
  // Of `params` on `card`, whose peak is `allocated`. Asks `predictions` for one switch after the other; `before`: what
  // the last ones came to, which holds until it is known anew. Switches that set one of the keys `own` are the first.
  WaysOut(Predictions* predictions, const std::string& why_not, const record::Params& params, PlannedCard card,
          record::Bytes allocated, std::span<const std::string> own, const std::vector<WayOut>& before);

  // Those that are on, that change enough, and that the page is about.
  std::vector<const WayOut*> shown() const;

  const std::vector<WayOut>& all() const { return all_; }
  bool complete() const { return next_ == all_.size(); }
  // True if more is known than before.
  bool poll();
  // Other settings: what can be turned over is theirs at once, what that would change is not known yet.
  void follow(const record::Params& params);

 private:
  PlannedCard card_;
  record::Bytes allocated_;
  std::vector<WayOut> all_;
  std::size_t next_ = 0;  // that is asked about
  StepPlanner planner_;
};

}  // namespace headroom::app::page
