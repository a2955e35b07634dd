// The verdict on whether the step fits on its card, and the techniques as switches, each with its effect on the step.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/common/plan/step_plan.h"
#include "app/page/make_fit.h"
#include "demos/experiments/technique_table.h"
#include "demos/predict/cards/cards.h"

namespace headroom::app::page {

struct WayOut {
  const experiments::Technique* what = nullptr;
  bool on = false;
  std::optional<record::Params> turned;  // the settings with it toggled; empty: impossible
  std::string why_not;
  // Change of the peak when toggled.
  std::optional<record::Bytes> change;
  bool current = false;                     // `change` is for these settings
  std::optional<predict::Verdict> verdict;  // when toggled
  bool own = false;                         // the page is about this technique
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
  // True if more switches' changes became known.
  bool poll();
  // Adopts other settings. Each WayOut::change keeps its old value.
  void follow(const record::Params& params);

 private:
  PlannedCard card_;
  record::Bytes allocated_;
  std::vector<WayOut> all_;
  std::size_t next_ = 0;
  StepPlanner planner_;
};

class Verdict {
 public:
  explicit Verdict(const predict::Card* card) : chosen_card_(card) {}

  // Null: this machine's card, or that of the page's run.
  const predict::Card* chosen_card() const { return chosen_card_; }
  void choose_card(const predict::Card* card) { chosen_card_ = card; }

  const StepPlan* plan() const { return plan_ ? &*plan_ : nullptr; }
  MakeFit& make_fit() { return make_fit_; }
  const MakeFit& make_fit() const { return make_fit_; }
  // All switches of the last plan.
  const std::vector<WayOut>& ways() const;
  std::vector<const WayOut*> shown_ways() const;

  struct Request {
    record::Params settings;
    PlannedCard card;
    Predictions* service = nullptr;         // null: the closed form answers
    std::string why_formula;                // why the closed form answers, or would
    std::span<const std::string> own_keys;  // the switches that set these come first
    bool keeps_ways = false;                // while a switch is held
  };
  // True if follow() has nothing to do until news arrives.
  bool rests(bool news) const { return planner_ != nullptr && !news; }
  bool follow(const Request& request);
  // Drops the plan; true if there was one.
  bool clear();
  // Makes the next follow() plan anew.
  void restart() { planner_.reset(); }
  // See WaysOut::follow().
  void follow_ways(const record::Params& settings);

  void note_turned(const WayOut& way, const record::Params& from);
  // The settings with the last turned switch toggled back; empty if anything else changed.
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
  MakeFit make_fit_;
  Turned last_turned_;
};

}  // namespace headroom::app::page
