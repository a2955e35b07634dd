// One step of several ranks over time: what one rank computes, gathers, sums and holds whole, the collectives of the
// others, and below the bytes that the rank has sent by then. Rajbhandari et al. 2020, arXiv:1910.02054, section 7.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/llama/operators.h"
#include "demos/predict/step_settings.h"
#include "demos/record/rows/collective.h"
#include "lessons/axes.h"
#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/collective_lanes.h"
#include "lessons/steps/kernel_rows.h"
#include "lessons/steps/run_lines.h"
#include "lessons/steps/shown_range.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::Bytes;
using record::Collective;
using record::Recording;

constexpr std::array kRankLanesSchema{
    whole_param("rank", "Shown rank",
                "Number of the rank that is shown in detail, from 0; the last one if there are fewer", 0, 15, 2),
    kShowParam,
    kStepParam,
};

// Higher levels than this many are left out.
constexpr int kMostLevels = 4;

// One step of one rank, on its own time axis.
struct RankStep {
  const record::Ledger& ledger;
  record::StepRange range;
  record::TimeAxis axis;
  record::TimeMap map;
  Axis x;
  KernelUnits units;

  const Recording& recording() const { return ledger.recording(); }
};

std::string part_name(std::uint16_t layer, std::string_view outside) {
  return layer == record::kNoLayer ? std::string(outside) : std::to_string(layer);
}

// "layer 3"
std::string part_words(std::uint16_t layer, std::string_view outside) {
  return layer == record::kNoLayer ? std::string(outside) : fmt::format("layer {}", layer);
}

bool meets(const Axis& x, double begin, double end) { return end >= x.low && begin <= x.high; }

Lane layer_lane(const RankStep& step) {
  Lane lane{.label = "Layer"};
  for (const record::PhaseSpan& span : record::phase_spans(step.recording(), step.map, step.range, false)) {
    if (!meets(step.x, span.begin, span.end)) continue;
    const std::string_view phase = record::label_of(span.phase);
    std::string tip = part_words(span.layer, phase);
    if (span.layer != record::kNoLayer) tip += fmt::format(", {}", phase);
    lane.boxes.push_back({.begin = span.begin,
                          .end = span.end,
                          .work = Work::kZone,
                          .label = part_name(span.layer, phase),
                          .tip = tip + ": " + amount_text(span.end - span.begin, step.units.time)});
  }
  return lane;
}

// Weights that the rank has gathered and not yet freed. Those that overlap in time are in different lanes.
std::vector<Lane> held_lanes(const RankStep& step) {
  const std::string_view gathered = llama::name_of(llama::Op::kGatheredWeights);
  std::vector<Lane> lanes;
  for (const record::Storage& each : step.ledger.storages()) {
    if (each.died <= step.range.first || each.born >= step.range.last) continue;
    if (step.recording().op_name(each.op) != gathered) continue;
    const double begin = each.born < step.range.first ? 0 : step.map.position(each.born);
    const double end = each.died >= step.range.last ? step.map.end() : step.map.position(each.died);
    if (!meets(step.x, begin, end)) continue;
    auto lane = std::ranges::find_if(lanes, [=](const Lane& other) { return other.boxes.back().end <= begin; });
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), Lane{.label = lanes.empty() ? "Whole" : ""});
    lane->boxes.push_back(
        {.begin = begin,
         .end = end,
         .work = Work::kHeld,
         .bytes = each.block,
         .label = part_name(each.layer, "table"),
         .tip = fmt::format("{} is whole for {}: {}", part_words(each.layer, "the embedding"),
                            amount_text(end - begin, step.units.time), bytes_text(each.block, step.units.bytes))});
  }
  return lanes;
}

Lanes lanes_of(const RankStep& step, const std::vector<const record::Ledger*>& ranks) {
  Lanes panel{.x = step.x};
  const auto collectives = [&](const Recording& rank) {
    return collective_lane(rank, step.recording(), step.range, step.axis, step.x, step.units);
  };
  panel.lanes.push_back(layer_lane(step));
  const record::CollectiveSums sums = record::sums_of(step.recording().collectives(), step.range.step);
  panel.lanes.back().note =
      fmt::format("Rank {}: {} collectives send {} in {} of {}", step.recording().info().rank, sums.count,
                  bytes_text(sums.sent, step.units.bytes), in_unit(static_cast<double>(sums.time), step.units.time),
                  amount_text(step.map.end(), step.units.time));
  panel.lanes.push_back(collectives(step.recording()));
  panel.lanes.back().label = "Collective";
  for (Lane& lane : held_lanes(step)) panel.lanes.push_back(std::move(lane));
  const std::size_t own = panel.lanes.size();
  for (const record::Ledger* rank : ranks) {
    if (rank == &step.ledger) continue;
    Lane lane = collectives(rank->recording());
    lane.label = fmt::format("Rank {}", rank->recording().info().rank);
    lane.thin = true;
    if (panel.lanes.size() == own) lane.note = "Collectives of the other ranks";
    panel.lanes.push_back(std::move(lane));
  }
  return panel;
}

// Bytes sent by the collectives that have ended, as two series with the same places.
struct Sent {
  ChartSeries gathers{.label = "weights gathered", .category = record::Category::kWeights},
      sums{.label = "gradients summed", .category = record::Category::kGradients};
  Bytes gathered = 0, summed = 0;

  Bytes all() const { return gathered + summed; }
  void add_point(double x, std::string tip = {}) {
    gathers.points.push_back(exact_point(x, static_cast<double>(gathered)));
    sums.points.push_back(exact_point(x, static_cast<double>(summed), std::move(tip)));
  }
  void drop_point() {
    gathers.points.pop_back();
    sums.points.pop_back();
  }
  std::size_t points() const { return gathers.points.size(); }
  double last() const { return gathers.points.back().x; }
};

std::vector<const Collective*> by_end(const Recording& run, std::int32_t step) {
  std::vector<const Collective*> found;
  for (const Collective& each : run.collectives())
    if (each.step == step) found.push_back(&each);
  std::ranges::stable_sort(found, {}, &Collective::end);
  return found;
}

// At most one rise per column.
Sent sent_over(const RankStep& step, int columns) {
  Sent sent;
  const double shift = rank_shift(step.recording(), step.recording(), step.range, step.axis);
  const double least = (step.x.high - step.x.low) / std::max(columns, 1);
  sent.add_point(0);
  for (const Collective* each : by_end(step.recording(), step.range.step)) {
    const double x = std::clamp(static_cast<double>(each->end) + shift, 0.0, step.map.end());
    if (sent.points() == 1 || x - sent.last() >= least)
      sent.add_point(x);
    else
      sent.drop_point();
    (is_sum(each->kind) ? sent.summed : sent.gathered) += record::sent_bytes(*each);
    sent.add_point(
        x, !meets(step.x, x, x)
               ? std::string()
               : fmt::format("after {}: {} sent in gathers, {} in sums", amount_text(x, step.units.time),
                             bytes_text(sent.gathered, step.units.bytes), bytes_text(sent.summed, step.units.bytes)));
  }
  sent.add_point(step.map.end());
  return sent;
}

// Multiples of what one gather of all weights sends. Adapters move only a part of the weights.
void add_levels(Chart& chart, const Recording& run, Bytes sent) {
  const experiments::DemoInfo& demo = experiments::training_step();
  if (run.info().demo != demo.id) return;
  const predict::StepSettings step = predict::settings_of(run.info(), demo.schema);
  if (step.adapters.kind != predict::AdapterKind::kOff || step.parallel.ranks < 2) return;
  const std::int64_t n = step.parallel.shards() > 1 ? step.parallel.shards() : step.parallel.ranks;
  const double once = static_cast<double>(llama::num_parameters(step.model) * step.element_bytes()) *
                      static_cast<double>(n - 1) / static_cast<double>(n);
  const auto highest = static_cast<int>(std::ceil(static_cast<double>(sent) / once - 0.5));
  for (int k = 1; k <= highest && highest <= kMostLevels; ++k)
    chart.add_level(fmt::format("{}{}/{} P", k == 1 ? "" : std::to_string(k) + " · ", n - 1, n), k * once);
}

Chart chart_of(const RankStep& step, int columns) {
  Sent sent = sent_over(step, columns);
  Chart chart{.title = fmt::format("Sent by rank {}: {}", step.recording().info().rank,
                                   bytes_text(sent.all(), step.units.bytes)),
              .x = step.x,
              .y = {.unit = AxisUnit::kBytes, .shown = step.units.bytes},
              .stacked = true};
  for (const record::PhaseSpan& span : record::phase_spans(step.recording(), step.map, step.range, true)) {
    if (span.phase == record::Phase::kRecompute || !meets(step.x, span.begin, span.end)) continue;
    const bool is_long = span.end - span.begin > 0.08 * (step.x.high - step.x.low);
    chart.spans.push_back({is_long ? std::string(record::label_of(span.phase)) : std::string(),
                           std::max(span.begin, step.x.low), std::min(span.end, step.x.high), tone_of(span.phase)});
  }
  chart.x.name = "time in the step, " + std::string(unit_of(step.x).name);
  if (sent.gathered > 0) chart.series.push_back(std::move(sent.gathers));
  chart.series.push_back(std::move(sent.sums));
  add_levels(chart, step.recording(), sent.all());
  double highest = static_cast<double>(sent.all());
  for (const ChartReference& level : chart.references) highest = std::max(highest, level.y.back());
  chart.y.high = round_up_bytes(1.3 * highest);  // room for the names of phases
  return chart;
}

// The shown step of the rank in detail; other ranks count steps alike.
RankStep step_of(const record::Ledger& ledger, const ShownRange& shown, const View& view, Bytes sent) {
  const Recording& run = ledger.recording();
  const record::TimeAxis axis = record::TimeAxis::kDevice;
  record::TimeMap map(run, axis, shown.range.first, shown.range.last);
  const Axis x = time_axis(view, map.end());
  const ShownUnit time = unit_of(time_axis({}, map.end()));
  return {ledger, shown.range, axis, std::move(map), x, {.time = time, .bytes = byte_unit(static_cast<double>(sent))}};
}

void add_rank_lanes_panels(FigureData& figure, const FigureInput& input) {
  if (input.view.hidden) return figure.leave_empty(kIsAnswer);
  const record::Ledger& ledger = *input.run;
  const ShownRange shown = shown_range(ledger.recording(), *input.params);
  set_step(figure.head, shown.range.step);
  figure.head.growing = shown.growing;
  if (!shown.empty_reason.empty()) return figure.leave_empty(shown.empty_reason);
  if (shown.range.step < 0) return figure.leave_empty("This figure shows one step: set Show to the last step.");
  if (is_predicted(ledger.recording()))
    return figure.leave_empty("A prediction has no times: run these settings to see when a rank gathers and sums.");
  const record::CollectiveSums sums = record::sums_of(ledger.recording().collectives(), shown.range.step);
  if (sums.count == 0)
    return figure.leave_empty(ledger.recording().info().ranks > 1
                                  ? "This step has no collective yet."
                                  : "This run has one rank: set GPUs (ranks) to 2 or more, and run it.");
  const RankStep step = step_of(ledger, shown, input.view, sums.sent);
  figure.add(lanes_of(step, input.ranks));
  figure.add(chart_of(step, input.view.columns));
}

}  // namespace

extern const Figure kRankLanes;
constinit const Figure kRankLanes{
    .id = "rank_lanes",
    .title = "One step on several ranks",
    .caption =
        "What a rank computes, gathers, sums and holds whole over one step, the other ranks' collectives, and "
        "the bytes that the rank has sent",
    .schema = kRankLanesSchema,
    .add_panels = add_rank_lanes_panels,
};

}  // namespace headroom::lessons
