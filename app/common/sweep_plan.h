// A sweep's points, each with a name and all settings of its run.
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

// Fails if the plan overrides an assignment such as "batch=4".
record::Status check_kept(const SweepPlan& plan, const record::Params& base, std::span<const std::string> assignments);

// Settings that all points share, and those that differ. Plans are the same sweep if both are equal.
std::map<std::string, std::string> common_settings(const SweepPlan& plan);
std::string describe_points(const SweepPlan& plan);

}  // namespace headroom::app
