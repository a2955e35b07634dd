// Loss by step of a run and of run A, and their difference: does a changed step still compute the same?
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/steps/losses.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

// Longer runs get no tips, which would fill the file.
constexpr std::size_t kMostTips = 200;
// Half the axis of differences if all are 0.
constexpr double kNoDifference = 1e-6;

ChartSeries loss_series(const LossByStep& losses, std::string label, SeriesKind kind) {
  ChartSeries series{.label = std::move(label), .kind = kind};
  for (const auto& [step, loss] : losses) {
    ChartPoint point = exact_point(static_cast<double>(step), loss);
    if (losses.size() <= kMostTips) point.tip = fmt::format("{}, step {}: {:.4f}", series.label, step, loss);
    series.points.push_back(std::move(point));
  }
  return series;
}

// Fits round ends around all points, not from 0, because a loss is read by its shape.
void fit(Axis& axis, const std::vector<ChartSeries>& series) {
  const auto [low, high] = range_of(series, &ChartPoint::y);
  const double room = std::max((high - low) * 0.08, std::abs(high) * 0.005);
  const double step = std::pow(10, std::floor(std::log10(std::max(high - low + 2 * room, 1e-9))) - 1);
  axis.low = std::floor((low - room) / step) * step;
  axis.high = std::ceil((high + room) / step) * step;
}

// Losses of single batches jump: a line through few would look like a trend.
constexpr std::size_t kLeastCurve = 20, kLeastCompared = 200;

bool makes_curve(const LossByStep& run) { return run.size() >= kLeastCurve; }

Chart losses_chart(const FigureInput& input, const LossByStep& run, const LossByStep& baseline) {
  Chart chart;
  chart.title = "Loss";
  if (!baseline.empty()) chart.series.push_back(loss_series(baseline, "run A", SeriesKind::kEager));
  chart.series.push_back(loss_series(run, baseline.empty() ? "this run" : "run B, this one", SeriesKind::kFused));
  const LossByStep held_out = losses_of(input.run->recording(), record::MetricKind::kEvaluationLoss);
  if (!held_out.empty()) chart.series.push_back(loss_series(held_out, "held-out text", SeriesKind::kOther));
  chart.x = steps_axis(input.run->recording().info(), run, baseline);
  chart.y.unit = AxisUnit::kNumber;
  chart.joined = makes_curve(run);
  if (!chart.joined) chart.title = "Loss: too few steps for a curve";
  if (!baseline.empty() && std::min(run.size(), baseline.size()) < kLeastCompared)
    chart.title = fmt::format("Loss: which run learns better can be told after {} steps", kLeastCompared);
  fit(chart.y, chart.series);
  return chart;
}

// B − A at common steps; the title has the largest difference.
Chart difference_chart(const LossByStep& run, const LossByStep& baseline, const Axis& x) {
  LossByStep change;
  for (const auto& [step, loss] : run)
    if (const auto before = baseline.find(step); before != baseline.end()) change[step] = loss - before->second;
  Chart chart;
  chart.x = x;
  chart.joined = makes_curve(change);
  chart.y.unit = AxisUnit::kNumber;
  if (change.empty()) {
    chart.title = "No step that both runs have";
    chart.y.low = -kNoDifference, chart.y.high = kNoDifference;
    return chart;
  }
  const auto largest = std::ranges::max_element(change, {}, [](const auto& each) { return std::abs(each.second); });
  const double most = std::abs(largest->second);
  chart.title = most == 0 ? "No difference in any step"
                          : fmt::format("Largest difference {}, step {}", small_text(largest->second), largest->first);
  chart.series.push_back(loss_series(change, "B − A", SeriesKind::kFused));
  for (ChartPoint& point : chart.series.front().points)
    if (!point.tip.empty())
      point.tip = fmt::format("B − A, step {}: {}", static_cast<std::int32_t>(point.x), small_text(point.y));
  const double end = most == 0 ? kNoDifference : most * 1.25;
  chart.y.low = -end, chart.y.high = end;
  chart.add_level({}, 0);
  return chart;
}

void add_loss_curves_panels(FigureData& figure, const FigureInput& input) {
  const record::Recording& recording = input.run->recording();
  const LossByStep run = losses_of(recording);
  if (run.empty()) return figure.leave_empty(why_no_loss(recording));
  const LossByStep baseline = input.baseline == nullptr ? LossByStep{} : losses_of(input.baseline->recording());
  Chart losses = losses_chart(input, run, baseline);
  const Axis steps = losses.x;
  figure.add(std::move(losses));
  if (baseline.empty()) return;
  add_baseline(figure.head.provenance, input.baseline->recording());
  figure.add(difference_chart(run, baseline, steps));
}

}  // namespace

extern const Figure kLossCurves;
constinit const Figure kLossCurves{
    .id = "loss_curves",
    .title = "Loss",
    .caption = "The loss by step; with a second run, both and their difference",
    .schema = {},
    .add_panels = add_loss_curves_panels,
};

}  // namespace headroom::lessons
