// A sweep's points, each with a name and all settings of its run: over axes, up the ladder, or the report's.
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

// Every combination of the values of at least one axis; `base` has all other settings.
SweepPlan plan_over(const experiments::DemoInfo& demo, const record::Params& base,
                    std::span<const experiments::SweepAxis> axes);

// The default first rung of the ladder: fp32, plain operators, everything kept. AdamW is fused, because other
// optimizers and roundings are options of its kernel.
record::Params naive_settings();

// The ablation ladder: each rung turns on one more switch, from naive to all on. Series "ladder", labels "naive" and
// the switches' ids; `base` is the first rung. Without an order, switches that conflict with earlier ones are omitted.
// With one, they become refused rungs, and later rungs skip them. Fails for unknown and repeated ids.
record::Result<SweepPlan> plan_ladder(const record::Params& base, std::span<const std::string> order);

// The experiment of the report on Liger Kernel (Llama 3.2 1B on one 24 GB card). Settings of all points, apart from
// loss, fused kernels, batch and sequence. Quick: the tiny model on the CPU, with a cap that the first strategy exceeds.
record::Params report_params(bool quick);

// Three strategies over the batch and over the length. Keeps recordings of the report's timelines in `timelines`, if
// not empty.
SweepPlan plan_report(const record::Params& base, bool quick, const std::filesystem::path& timelines = {});

// Fails if the plan overrides an assignment such as "batch=4".
record::Status check_kept(const SweepPlan& plan, const record::Params& base, std::span<const std::string> assignments);

// Settings that all points share, and those that differ. Plans are the same sweep if both are equal.
std::map<std::string, std::string> common_settings(const SweepPlan& plan);
std::string describe_points(const SweepPlan& plan);

}  // namespace headroom::app
