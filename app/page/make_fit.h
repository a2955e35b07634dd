// *Make it fit*: the sets of switches that make the settings fit on the card, searched while the reader looks at them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/common/plan/advisor.h"

namespace headroom::app::page {

class MakeFit {
 public:
  struct Request {
    record::Params settings;  // without a limit
    PlannedCard card;
    Predictions* service = nullptr;  // null: the closed form answers
    std::string why_formula;         // why it does
  };

  // Call in each frame that shows the sets.
  void look() { looked_ = true; }
  // True once for each look().
  bool take_look() { return std::exchange(looked_, false); }
  // Asks for more of the answer. True if the advice has changed.
  bool follow(const Request& request);

  const GivenUp& may() const { return may_; }
  void set_may(const GivenUp& may) { may_ = may; }
  // Null: the search continues.
  const Advice* advice() const { return advice_ ? &*advice_ : nullptr; }
  // The sets that a planner predicted for these settings, if nothing may be kept from them; null: none.
  const std::vector<AdvisedSet>* predicted_for(const record::Params& settings) const;

 private:
  bool is_for(const Request& request) const;

  bool looked_ = false;
  GivenUp may_, searched_may_;
  std::optional<Request> request_;
  std::unique_ptr<StepPlanner> planner_;
  std::optional<Advisor> advisor_;
  std::optional<Advice> advice_;
};

}  // namespace headroom::app::page
