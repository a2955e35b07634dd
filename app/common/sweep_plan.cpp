#include "app/common/sweep_plan.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/record/text.h"

namespace headroom::app {

using record::Error;
using record::Params;

namespace {

struct SweepAxis {
  std::string key;
  std::vector<std::string> values;  // as the schema writes them
};

record::Result<SweepAxis> axis_from(const experiments::DemoInfo& demo, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Error{fmt::format("--over {}: it takes a key and its values, such as batch=1,4,8.", record::quoted(text))};
  SweepAxis axis{text.substr(0, equals), {}};
  Params params(demo.schema);
  for (std::size_t from = equals + 1; from != std::string::npos + 1;) {
    const std::size_t comma = text.find(',', from);
    const std::string value = text.substr(from, comma == std::string::npos ? comma : comma - from);
    if (auto set = params.set(axis.key, std::string_view(value)); !set) return set.error();
    std::string written = params.as_text(axis.key);
    if (std::find(axis.values.begin(), axis.values.end(), written) != axis.values.end())
      return Error{fmt::format("--over {} has the value {} twice.", record::quoted(text), written)};
    axis.values.push_back(std::move(written));
    from = comma + 1;
  }
  return axis;
}

}  // namespace

record::Result<SweepPlan> plan_over(const experiments::DemoInfo& demo, const Params& base,
                                    std::span<const std::string> overs) {
  std::vector<SweepAxis> axes;
  for (const std::string& text : overs) {
    auto axis = axis_from(demo, text);
    if (!axis) return axis.error();
    for (const SweepAxis& other : axes)
      if (other.key == axis.value().key) return Error{fmt::format("--over names {} twice.", other.key)};
    axes.push_back(std::move(axis).value());
  }
  if (axes.empty()) return Error{"Say what to sweep over, such as --over batch=1,4,8."};

  SweepPlan plan{axes.front().key, std::string(demo.id), {}};
  for (std::size_t i = 1; i < axes.size(); ++i) plan.name += " × " + axes[i].key;
  // Each series is one choice of values of the axes behind the first: counted as the digits of a number.
  std::vector<std::size_t> digit(axes.size(), 0);
  for (bool more = true; more;) {
    Params params = base;
    std::vector<std::string> series;
    for (std::size_t i = 1; i < axes.size(); ++i) {
      const std::string& value = axes[i].values[digit[i]];
      if (auto set = params.set(axes[i].key, std::string_view(value)); !set) return set.error();
      series.push_back(axes[i].key + "=" + value);
    }
    for (const std::string& value : axes.front().values) {
      if (auto set = params.set(axes.front().key, std::string_view(value)); !set) return set.error();
      plan.points.push_back({fmt::format("{}", fmt::join(series, " ")), axes.front().key + "=" + value, params});
    }
    more = false;
    for (std::size_t i = 1; i < axes.size() && !more; ++i) {
      digit[i] = (digit[i] + 1) % axes[i].values.size();
      more = digit[i] != 0;
    }
  }
  return plan;
}

record::Status check_kept(const SweepPlan& plan, const Params& base, std::span<const std::string> assignments) {
  for (const std::string& assignment : assignments) {
    const std::string key = assignment.substr(0, assignment.find('='));
    const auto keeps = [&](const PlannedPoint& point) { return point.params.as_text(key) == base.as_text(key); };
    if (!std::all_of(plan.points.begin(), plan.points.end(), keeps))
      return Error{fmt::format("--set {}: this sweep sets {} itself, point by point; leave it out.", assignment, key)};
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
