#include "app/common/ladder.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/experiments/combinations.h"
#include "demos/experiments/strategies.h"
#include "demos/experiments/technique_table.h"
#include "demos/record/text.h"

namespace headroom::app {

using experiments::Technique;
using record::Error;
using record::Params;

namespace {

record::Result<const Technique*> technique_named(const std::string& id) {
  std::vector<std::string_view> known;
  for (const Technique* each : experiments::ladder_techniques()) {
    if (each->id == id) return each;
    known.push_back(each->id);
  }
  return Error{fmt::format("The ladder has no switch {}; the nearest is {}. It has {}.", record::quoted(id),
                           record::nearest(id, known), fmt::join(known, ", "))};
}

}  // namespace

Params naive_settings() {
  Params params(experiments::training_step().schema);
  experiments::apply(params, experiments::kNaive);
  return params;
}

record::Result<SweepPlan> plan_ladder(const Params& base, std::span<const std::string> order) {
  std::vector<const Technique*> rungs;
  for (const std::string& id : order) {
    const auto found = technique_named(id);
    if (!found) return found.error();
    if (std::ranges::find(rungs, found.value()) != rungs.end())
      return Error{fmt::format("--order names {} twice.", id)};
    rungs.push_back(found.value());
  }
  if (order.empty())
    for (const Technique* each : experiments::ladder_techniques())
      if (each->rung.by_default) rungs.push_back(each);

  SweepPlan plan{"ladder", std::string(experiments::training_step().id), {{"ladder", "naive", base}}};
  Params on = base;
  for (const Technique* each : rungs) {
    const Params next = experiments::on_rung(*each, on);
    const bool refused = experiments::refused_combination(next).has_value();
    if (refused && order.empty()) continue;
    plan.points.push_back({"ladder", each->id, next});
    if (!refused) on = next;
  }
  return plan;
}

}  // namespace headroom::app
