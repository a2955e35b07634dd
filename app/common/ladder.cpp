#include "app/common/ladder.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/experiments/combinations.h"
#include "demos/experiments/strategies.h"
#include "demos/record/text.h"

namespace headroom::app {

using experiments::LadderSwitch;
using record::Error;
using record::Params;

namespace {

record::Result<const LadderSwitch*> switch_named(const std::string& id) {
  for (const LadderSwitch& each : experiments::ladder_switches())
    if (each.id == id) return &each;
  std::vector<std::string_view> known;
  std::string all;
  for (const LadderSwitch& each : experiments::ladder_switches()) {
    known.push_back(each.id);
    all += (all.empty() ? "" : ", ") + std::string(each.id);
  }
  return Error{fmt::format("The ladder has no switch {}; the nearest is {}. It has {}.", record::quoted(id),
                           record::nearest(id, known), all)};
}

}  // namespace

Params naive_settings() {
  Params params(experiments::training_step().schema);
  experiments::apply(params, experiments::kNaive);
  return params;
}

record::Result<SweepPlan> plan_ladder(const Params& base, std::span<const std::string> order) {
  std::vector<const LadderSwitch*> switches;
  for (const std::string& id : order) {
    const auto found = switch_named(id);
    if (!found) return found.error();
    if (std::find(switches.begin(), switches.end(), found.value()) != switches.end())
      return Error{fmt::format("--order names {} twice.", id)};
    switches.push_back(found.value());
  }
  if (order.empty())
    for (const LadderSwitch& each : experiments::ladder_switches())
      if (each.by_default) switches.push_back(&each);

  SweepPlan plan{"ladder", std::string(experiments::training_step().id), {{"ladder", "naive", base}}};
  Params on = base;
  for (const LadderSwitch* each : switches) {
    Params next = on;
    experiments::apply(next, each->settings);
    const bool refused = experiments::refused_combination(next).has_value();
    if (refused && order.empty()) continue;
    plan.points.push_back({"ladder", std::string(each->id), next});
    if (!refused) on = next;
  }
  return plan;
}

}  // namespace headroom::app
