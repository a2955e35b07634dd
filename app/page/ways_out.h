// The techniques as switches, each with its effect on the step.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/common/step_plan.h"
#include "demos/experiments/technique_table.h"

namespace headroom::app::page {

struct WayOut {
  const experiments::Technique* what = nullptr;
  bool on = false;
  std::optional<record::Params> turned;  // the settings with it toggled; empty: impossible
  std::string why_not;
  // Change of the peak when toggled; empty: unknown.
  std::optional<record::Bytes> change;
  bool current = false;                     // `change` is for these settings
  std::optional<predict::Verdict> verdict;  // when toggled
  bool own = false;                         // the page is about it
};

class WaysOut {
 public:
  // `allocated`: the peak of `params` on `card`. `before`: previous results, kept until new ones arrive. Switches that
  // set a key in `own` come first.
  WaysOut(Predictions* predictions, const std::string& why_not, const record::Params& params, PlannedCard card,
          record::Bytes allocated, std::span<const std::string> own, const std::vector<WayOut>& before);

  // Switches that are on, change the peak enough, or are the page's own.
  std::vector<const WayOut*> shown() const;

  const std::vector<WayOut>& all() const { return all_; }
  bool complete() const { return next_ == all_.size(); }
  // True if more is known.
  bool poll();
  // For other settings. Changes keep their old values.
  void follow(const record::Params& params);

 private:
  PlannedCard card_;
  record::Bytes allocated_;
  std::vector<WayOut> all_;
  std::size_t next_ = 0;
  StepPlanner planner_;
};

}  // namespace headroom::app::page
