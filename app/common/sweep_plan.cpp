#include "app/common/sweep_plan.h"

#include <algorithm>
#include <utility>

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

struct Shapes {
  std::int64_t seq;  // sequence length of the batch sweep
  std::vector<std::int64_t> batches;
  std::vector<std::int64_t> further;  // batches beyond the report's, only for liger_all
  std::int64_t batch;                 // batch of the length sweep
  std::vector<std::int64_t> seqs;
};
Shapes shapes(bool quick) {
  if (quick) return {128, {1, 2, 4, 8, 16}, {}, 2, {64, 128, 256, 512, 1024}};
  return {1024, {1, 4, 8, 16, 32, 64, 96, 112}, {128, 144}, 4, {512, 1024, 2048, 4096, 8192, 12288, 16384, 24576}};
}

// True for runs whose timeline is in the report's figures 12 and 15, or their quick counterparts.
bool has_timeline(std::string_view series, std::int64_t batch, std::int64_t seq, bool quick) {
  if (quick) return seq == 128 && batch == 4 && series != "liger_without_flce";
  if (seq != 1024) return false;
  return (series == "hf" && batch == 8) || (series == "liger_all" && (batch == 4 || batch == 8 || batch == 112));
}

}  // namespace

SweepPlan plan_over(const experiments::DemoInfo& demo, const Params& base,
                    std::span<const experiments::SweepAxis> axes) {
  SweepPlan plan{axes.front().key, std::string(demo.id), {}};
  for (const experiments::SweepAxis& axis : axes.subspan(1)) plan.name += " × " + axis.key;
  for (experiments::SweptSettings& point : experiments::swept_settings(base, axes))
    plan.points.push_back({std::move(point.series), std::move(point.label), std::move(point.params)});
  return plan;
}

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

Params report_params(bool quick) {
  Params params(experiments::training_step().schema);
  experiments::apply(params, experiments::report_settings(quick));
  return params;
}

SweepPlan plan_report(const Params& base, bool quick, const std::filesystem::path& timelines) {
  SweepPlan plan;
  plan.name = "report";
  plan.demo = experiments::training_step().id;
  const Shapes sizes = shapes(quick);
  for (const experiments::ReportStrategy& strategy : experiments::report_strategies()) {
    const auto add = [&](std::int64_t batch, std::int64_t seq) {
      PlannedPoint point;
      point.series = strategy.series;
      point.label = fmt::format("{} × {}", batch, seq);
      point.params = base;
      const auto same = [&](const PlannedPoint& p) { return p.series == point.series && p.label == point.label; };
      if (std::any_of(plan.points.begin(), plan.points.end(), same)) return;  // both sweeps share one point
      experiments::apply(point.params, strategy.settings);
      experiments::apply(point.params, {fmt::format("batch={}", batch), fmt::format("seq={}", seq)});
      if (!timelines.empty() && has_timeline(strategy.series, batch, seq, quick))
        point.keep = timelines / std::filesystem::path(fmt::format("{}_b{}_t{}.hrec", strategy.series, batch, seq));
      plan.points.push_back(std::move(point));
    };
    for (const std::int64_t batch : sizes.batches) add(batch, sizes.seq);
    if (strategy.series == "liger_all")
      for (const std::int64_t batch : sizes.further) add(batch, sizes.seq);
    for (const std::int64_t seq : sizes.seqs) add(sizes.batch, seq);
  }
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
