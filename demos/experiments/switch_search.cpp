// Depth-first search through sets of switches.
#include "demos/experiments/switch_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "demos/experiments/combinations.h"
#include "demos/experiments/info/train_step_model.h"
#include "demos/predict/forms/closed_form.h"
#include "demos/predict/step_settings.h"

namespace headroom::experiments {

using record::Bytes;
using record::Params;

namespace {

Bytes peak_of(const Params& params, const std::optional<llama::DescribedModel>& model) {
  predict::StepSettings step = predict::step_settings(params);
  if (model) {
    step.model = model->config;
    step.extension = model->extension;
  }
  return record::total(predict::closed_form(step).peak().bytes);
}

std::optional<llama::DescribedModel> model_of(const Params& params) {
  auto model = described_model(predict::step_settings(params));
  return model ? std::optional(std::move(model).value()) : std::nullopt;
}

class Search {
 public:
  Search(const Params& params, const GivenUp& may) : start_(params), model_(model_of(params)) {
    for (const Technique& each : memory_techniques())
      if ((may.speed || !each.cost.speed) && (may.exactness || !each.cost.exactness)) usable_.push_back(&each);
  }

  std::vector<SwitchSet> candidates(std::size_t most) {
    grow({.switches = {}, .params = start_}, 0, most);
    std::ranges::stable_sort(found_, {}, [](const SwitchSet& each) {  // ties stay in table order
      return std::tuple(each.exactness, each.speed, each.switches.size(), each.times, each.bytes);
    });
    return std::move(found_);
  }

 private:
  void grow(const SwitchSet& from, std::size_t next, std::size_t most) {
    if (from.switches.size() == most) return;
    for (std::size_t i = next; i < usable_.size(); ++i) {
      const Technique& what = *usable_[i];
      auto on = turned_on(what, from.params);
      if (!on) continue;
      SwitchSet with = from;
      with.switches.push_back(&what);
      with.params = *std::move(on);
      // A later switch may undo an earlier one.
      if (!std::ranges::all_of(with.switches, [&](const auto* each) { return is_on(*each, with.params); })) continue;
      with.exactness += what.cost.exactness ? 1 : 0;
      with.speed += what.cost.speed ? 1 : 0;
      // Assume that an unmeasured switch that costs speed is slower than any measured one.
      constexpr double kUnmeasured = 10;
      with.times *= what.cost.times > 0 ? what.cost.times : what.cost.speed ? kUnmeasured : 1;
      grow(with, i + 1, most);
      if (refused_combination(with.params, record::DeviceKind::kGpu)) continue;
      with.bytes = peak_of(with.params, model_);
      found_.push_back(std::move(with));
    }
  }

  Params start_;
  std::optional<llama::DescribedModel> model_;  // read once
  std::vector<const Technique*> usable_;
  std::vector<SwitchSet> found_;
};

}  // namespace

Bytes closed_form_peak(const Params& train_step) { return peak_of(train_step, model_of(train_step)); }

std::vector<SwitchSet> switch_sets(const Params& params, const GivenUp& may, std::size_t most) {
  return Search(params, may).candidates(most);
}

std::vector<const Technique*> in_order(std::vector<const Technique*> switches) {
  std::ranges::stable_sort(switches, {},
                           [](const Technique* each) { return std::tuple(each->cost.exactness, each->cost.speed); });
  return switches;
}

}  // namespace headroom::experiments
