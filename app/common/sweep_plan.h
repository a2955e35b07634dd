// What a sweep is to run: points, each with a name and all settings of its run.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/experiments/demo.h"
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

// One axis of a sweep as it is typed, "batch=1,4,8", for each of `overs`; `base` holds all other settings. The values of
// the first axis follow each other in a series; one series for each combination of the others. Refuses a key that is
// not known, a value out of range and one given twice.
record::Result<SweepPlan> plan_over(const experiments::DemoInfo& demo, const record::Params& base,
                                    std::span<const std::string> overs);

// Refuses an assignment, "batch=4", that some point does not keep because the plan goes over that key.
record::Status check_kept(const SweepPlan& plan, const record::Params& base, std::span<const std::string> assignments);

// The settings that all points share, and those that differ: two plans are the same sweep if both are equal.
std::map<std::string, std::string> common_settings(const SweepPlan& plan);
std::string describe_points(const SweepPlan& plan);

}  // namespace headroom::app
