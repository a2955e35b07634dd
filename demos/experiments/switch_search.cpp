// Depth-first search through sets of switches.
#include "demos/experiments/switch_search.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "demos/experiments/combinations.h"
#include "demos/experiments/switches.h"
#include "demos/experiments/train_step_model.h"
#include "demos/predict/closed_form.h"
#include "demos/predict/step_settings.h"

namespace headroom::experiments {

using predict::MemorySwitch;
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
    for (const MemorySwitch& each : predict::memory_switches())
      if ((may.speed || !each.costs_speed) && (may.exactness || !each.costs_exactness)) usable_.push_back(&each);
  }

  std::vector<SwitchSet> candidates(std::size_t most) {
    grow({.switches = {}, .params = start_}, 0, most);
    std::ranges::sort(found_, {}, [](const SwitchSet& each) {
      return std::tuple(each.exactness, each.speed, each.switches.size(), each.times, each.bytes);
    });
    return std::move(found_);
  }

 private:
  void grow(const SwitchSet& from, std::size_t next, std::size_t most) {
    if (from.switches.size() == most) return;
    for (std::size_t i = next; i < usable_.size(); ++i) {
      const MemorySwitch& what = *usable_[i];
      auto on = turned_on(what, from.params);
      if (!on) continue;
      SwitchSet with = from;
      with.switches.push_back(&what);
      with.params = *std::move(on);
      // A later switch may undo an earlier one.
      if (!std::ranges::all_of(with.switches, [&](const auto* each) { return is_on(*each, with.params); })) continue;
      with.exactness += what.costs_exactness ? 1 : 0;
      with.speed += what.costs_speed ? 1 : 0;
      // Assume that an unmeasured switch that costs speed is slower than any measured one.
      constexpr double kUnmeasured = 10;
      with.times *= what.times > 0 ? what.times : what.costs_speed ? kUnmeasured : 1;
      grow(with, i + 1, most);
      if (refused_combination(with.params, record::DeviceKind::kGpu)) continue;
      with.bytes = peak_of(with.params, model_);
      found_.push_back(std::move(with));
    }
  }

  Params start_;
  std::optional<llama::DescribedModel> model_;  // read once
  std::vector<const MemorySwitch*> usable_;
  std::vector<SwitchSet> found_;
};

}  // namespace

Bytes closed_form_peak(const Params& train_step) { return peak_of(train_step, model_of(train_step)); }

std::vector<SwitchSet> switch_sets(const Params& params, const GivenUp& may, std::size_t most) {
  return Search(params, may).candidates(most);
}

std::vector<const MemorySwitch*> in_order(std::vector<const MemorySwitch*> switches) {
  std::ranges::stable_sort(
      switches, {}, [](const MemorySwitch* each) { return std::tuple(each->costs_exactness, each->costs_speed); });
  return switches;
}

}  // namespace headroom::experiments
