// The verdict whether the step fits on its card, and each switch's effect.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/common/step_plan.h"
#include "app/page/ways_out.h"
#include "demos/predict/cards.h"

namespace headroom::app::page {

class Verdict {
 public:
  // The page's card, or null.
  explicit Verdict(const predict::Card* card) : chosen_card_(card) {}

  // Null: this machine's, or that of the page's run.
  const predict::Card* chosen_card() const { return chosen_card_; }
  void choose_card(const predict::Card* card) { chosen_card_ = card; }

  const StepPlan* plan() const { return plan_ ? &*plan_ : nullptr; }
  // All switches of the last plan; shown_ways() leaves out those with hardly any effect.
  const std::vector<WayOut>& ways() const;
  std::vector<const WayOut*> shown_ways() const;

  struct Request {
    record::Params settings;
    PlannedCard card;
    Predictions* service = nullptr;         // null: the closed form answers
    std::string why_formula;                // why it does, or would
    std::span<const std::string> own_keys;  // their switches come first
    bool keeps_ways = false;                // while a switch is held
  };
  // True if follow() has nothing to do until news arrives.
  bool rests(bool news) const { return planner_ != nullptr && !news; }
  // True if more is known.
  bool follow(const Request& request);
  // Drops the plan; true if there was one.
  bool clear();
  // Makes the next follow() plan anew.
  void restart() { planner_.reset(); }
  // For other settings. Effects keep their old values.
  void follow_ways(const record::Params& settings);

  void note_turned(const WayOut& way, const record::Params& from);
  // Toggles the last turned switch; empty if anything else changed.
  std::optional<record::Params> turned_back(const record::Params& now);
  const WayOut* last_turned() const;  // null: none, or no longer listed

 private:
  // Turning a switch off sets its default, not its old value, so both settings are kept.
  struct Turned {
    const experiments::Technique* what = nullptr;
    record::Params from, to;
  };

  const predict::Card* chosen_card_;
  std::unique_ptr<StepPlanner> planner_;
  std::optional<StepPlan> plan_;
  std::unique_ptr<WaysOut> ways_;
  Turned last_turned_;
};

}  // namespace headroom::app::page
