// What a sweep is to run: points, each with a name and all settings of its run.
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
  std::string series, label;  // together a unique name within the plan
  record::Params params;
  std::filesystem::path keep = {};  // where this run's own recording goes; empty: nowhere
};

struct SweepPlan {
  std::string name;  // "report", "ladder", "batch × seq"
  std::string demo;
  std::vector<PlannedPoint> points;  // at least one
};

// Every combination of the axes' values, of which there are some; `base` holds all other settings.
SweepPlan plan_over(const experiments::DemoInfo& demo, const record::Params& base,
                    std::span<const experiments::SweepAxis> axes);

// Refuses an assignment, "batch=4", that some point does not keep because the plan goes over that key.
record::Status check_kept(const SweepPlan& plan, const record::Params& base, std::span<const std::string> assignments);

// The settings that all points share, and those that differ: two plans are the same sweep if both are equal.
std::map<std::string, std::string> common_settings(const SweepPlan& plan);
std::string describe_points(const SweepPlan& plan);

}  // namespace headroom::app
