// Restarts the search when the settings, the card or what may be given up change.
#include "app/page/make_fit.h"

namespace headroom::app::page {

bool MakeFit::is_for(const Request& request) const {
  return request_ && request_->settings == request.settings && request_->card.name == request.card.name &&
         request_->card.memory == request.card.memory && request_->service == request.service &&
         may_.speed == searched_may_.speed && may_.exactness == searched_may_.exactness;
}

const std::vector<AdvisedSet>* MakeFit::predicted_for(const record::Params& settings) const {
  const bool all = searched_may_.speed && searched_may_.exactness;
  const bool known = advice_ && advice_->refusal.empty() && advice_->why_formula.empty();
  return all && known && request_->settings == settings ? &advice_->sets : nullptr;
}

bool MakeFit::follow(const Request& request) {
  const bool anew = !is_for(request);
  if (anew) {
    request_ = request;
    searched_may_ = may_;
    planner_ =
        std::make_unique<StepPlanner>(request.service, request.why_formula, nullptr, StepPlanner::Answers::kAtOnce);
    advisor_.emplace(request.settings, request.card, may_);
    advice_.reset();
  }
  if (advice_) return false;
  advice_ = advisor_->advise(*planner_);
  return anew || advice_.has_value();
}

}  // namespace headroom::app::page
