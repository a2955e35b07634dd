#include "app/common/sweep_plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace headroom::app {

using record::Error;
using record::Params;

SweepPlan plan_over(const experiments::DemoInfo& demo, const Params& base,
                    std::span<const experiments::SweepAxis> axes) {
  SweepPlan plan{axes.front().key, std::string(demo.id), {}};
  for (const experiments::SweepAxis& axis : axes.subspan(1)) plan.name += " × " + axis.key;
  for (experiments::SweptSettings& point : experiments::swept_settings(base, axes))
    plan.points.push_back({std::move(point.series), std::move(point.label), std::move(point.params)});
  return plan;
}

record::Status check_kept(const SweepPlan& plan, const Params& base, std::span<const std::string> assignments) {
  for (const std::string& assignment : assignments) {
    const std::string key = assignment.substr(0, assignment.find('='));
    const auto keeps = [&](const PlannedPoint& point) { return point.params.as_text(key) == base.as_text(key); };
    if (!std::all_of(plan.points.begin(), plan.points.end(), keeps))
      return Error{fmt::format("--set {}: this sweep sets {} itself at each point; remove it.", assignment, key)};
  }
  return record::Ok{};
}

std::map<std::string, std::string> common_settings(const SweepPlan& plan) {
  std::map<std::string, std::string> common = plan.points.front().params.to_map();
  for (const PlannedPoint& point : plan.points)
    std::erase_if(common, [&](const auto& setting) { return point.params.as_text(setting.first) != setting.second; });
  return common;
}

std::string describe_points(const SweepPlan& plan) {
  const std::map<std::string, std::string> common = common_settings(plan);
  std::string text;
  for (const PlannedPoint& point : plan.points) {
    if (!text.empty()) text += "; ";
    text += point.series + (point.series.empty() ? "" : " ") + point.label + ":";
    for (const auto& [key, value] : point.params.to_map())
      if (!common.contains(key)) text += " " + key + "=" + value;
  }
  return text;
}

}  // namespace headroom::app
