#include "app/common/report_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/experiments/strategies.h"

namespace headroom::app {

using record::Params;

namespace {

struct Shapes {
  std::int64_t seq;  // of the batch sweep
  std::vector<std::int64_t> batches;
  std::vector<std::int64_t> further;  // beyond the report's, with everything on
  std::int64_t batch;                 // of the length sweep
  std::vector<std::int64_t> seqs;
};
Shapes shapes(bool quick) {
  if (quick) return {128, {1, 2, 4, 8, 16}, {}, 2, {64, 128, 256, 512, 1024}};
  return {1024, {1, 4, 8, 16, 32, 64, 96, 112}, {128, 144}, 4, {512, 1024, 2048, 4096, 8192, 12288, 16384, 24576}};
}

// Runs with a timeline in the report's figures 12 and 15, or their quick counterparts.
bool has_timeline(std::string_view series, std::int64_t batch, std::int64_t seq, bool quick) {
  if (quick) return seq == 128 && batch == 4 && series != "liger_without_flce";
  if (seq != 1024) return false;
  return (series == "hf" && batch == 8) || (series == "liger_all" && (batch == 4 || batch == 8 || batch == 112));
}

}  // namespace

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

}  // namespace headroom::app
