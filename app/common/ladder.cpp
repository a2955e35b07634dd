#include "app/common/ladder.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/experiments/combinations.h"
#include "demos/record/text.h"

namespace headroom::app {

using record::Error;
using record::Params;

namespace {

// Cheap ones first: what costs neither time nor accuracy, then what costs some of either, then the bus.
constexpr std::array kSwitches{
    LadderSwitch{"flash_attention", {"attention=flash"}},
    LadderSwitch{"fused_kernels", {"fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.embedding=on"}},
    LadderSwitch{"flce", {"loss=flce"}},
    LadderSwitch{"bf16", {"precision=bf16", "rounding=stochastic"}},
    LadderSwitch{"checkpointing", {"checkpointing=layer"}},
    LadderSwitch{"optimizer_in_backward", {"optimizer_in_backward=on"}},
    LadderSwitch{"adamw_8bit", {"optimizer=adamw_8bit"}},
    LadderSwitch{"offload_checkpoints", {"offload.checkpoints=on"}},
    // The CPU's AdamW does without what other switches made of the GPU's.
    LadderSwitch{"offload_optimizer",
                 {"optimizer=adamw", "optimizer_in_backward=off", "rounding=nearest", "offload.optimizer=host"}},
    LadderSwitch{"offload_parameters", {"offload.parameters=on"}},
};

// The schema's defaults are a plain step but for the attention.
constexpr std::array<std::string_view, 2> kNaive{"attention=eager", "steps=5"};

// The table is ours: a setting that the schema does not know is a bug.
void set_known(Params& params, std::string_view assignment) {
  if (auto set = params.set_assignment(assignment); !set) throw std::logic_error(set.error().message);
}

record::Result<const LadderSwitch*> switch_named(const std::string& id) {
  const auto* const found =
      std::find_if(kSwitches.begin(), kSwitches.end(), [&](const LadderSwitch& each) { return each.id == id; });
  if (found != kSwitches.end()) return found;
  std::vector<std::string_view> known;
  std::string all;
  for (const LadderSwitch& each : kSwitches) {
    known.push_back(each.id);
    all += (all.empty() ? "" : ", ") + std::string(each.id);
  }
  return Error{fmt::format("The ladder has no switch {}; the nearest is {}. It has {}.", record::quoted(id),
                           record::nearest(id, known), all)};
}

}  // namespace

std::span<const LadderSwitch> ladder_switches() { return kSwitches; }

Params naive_settings(const experiments::DemoInfo& train_step) {
  Params params(train_step.schema);
  for (const std::string_view assignment : kNaive) set_known(params, assignment);
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
    for (const LadderSwitch& each : kSwitches) switches.push_back(&each);

  SweepPlan plan{"ladder", "train_step", {{"ladder", "naive", base}}};
  Params on = base;
  for (const LadderSwitch* each : switches) {
    Params next = on;
    for (const std::string_view setting : each->settings)
      if (!setting.empty()) set_known(next, setting);
    const bool refused = experiments::refused_combination(next).has_value();
    if (refused && order.empty()) continue;
    plan.points.push_back({"ladder", std::string(each->id), next});
    if (!refused) on = next;
  }
  return plan;
}

}  // namespace headroom::app
