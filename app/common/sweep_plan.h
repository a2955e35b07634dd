// A sweep's points, each with a name and all settings of its run: over axes, up the ladder, or as in the report.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/experiments/sweep_axes.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

struct PlannedPoint {
  std::string series, label;  // unique together
  record::Params params;
  std::filesystem::path keep = {};  // where to save this run; empty: nowhere
};

struct SweepPlan {
  std::string name;  // "report", "ladder", "batch × seq"
  std::string demo;
  std::vector<PlannedPoint> points;  // at least one
};

// Returns every combination of the axes' values, with all other settings from `base`. Needs at least one axis.
SweepPlan plan_over(const experiments::DemoInfo& demo, const record::Params& base,
                    std::span<const experiments::SweepAxis> axes);

// The default first rung of the ladder: fp32, plain operators, everything kept. AdamW is fused, because other
// optimizers and roundings are options of the fused kernel.
record::Params naive_settings();

// The ablation ladder: each rung turns on one more switch, from naive to all on. Series "ladder", labels "naive" and
// the switches' ids; `base` is the first rung. Without an order, switches that conflict with earlier ones are omitted;
// with an order, they become refused rungs, and later rungs omit them. Fails for unknown and repeated ids.
record::Result<SweepPlan> plan_ladder(const record::Params& base, std::span<const std::string> order);

// Settings shared by all points of the report's experiment on Liger Kernel (Llama 3.2 1B on one 24 GB card): all but
// loss, fused kernels, batch and sequence. `quick`: the tiny model on the CPU, with a cap that the first strategy
// exceeds.
record::Params report_params(bool quick);

// Three strategies, each swept over the batch and over the sequence length. Keeps recordings of the report's timelines
// in `timelines`, if not empty.
SweepPlan plan_report(const record::Params& base, bool quick, const std::filesystem::path& timelines = {});

// Fails if the plan overrides an assignment such as "batch=4".
record::Status check_kept(const SweepPlan& plan, const record::Params& base, std::span<const std::string> assignments);

std::map<std::string, std::string> common_settings(const SweepPlan& plan);
// Each point's other settings, as text. Two plans are the same sweep if these and the common settings are equal.
std::string describe_points(const SweepPlan& plan);

}  // namespace headroom::app
