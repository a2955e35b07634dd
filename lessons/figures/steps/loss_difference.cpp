// The loss of a run minus that of run A, as a share of the loss, next to what rounding one number changes: do several
// ranks compute what one rank computes?
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/predict/step_settings.h"
#include "lessons/figure.h"
#include "lessons/steps/losses.h"
#include "lessons/theory/number_format.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

// A level this many times above the data would flatten the line, and one this many times below it would be at 0.
constexpr double kFarLevel = 8, kNearLevel = 40;
// Half the axis if all differences are 0.
constexpr double kHalfAxis = 1e-7;
// Longer runs get no tips, which would fill the file.
constexpr std::size_t kMostDifferenceTips = 200;

// "4 ranks with ZeRO-3"
std::string ranks_text(const record::RunInfo& info) {
  const std::string zero = value_of(info.params, "zero");
  const bool shares = info.ranks > 1 && !zero.empty() && zero != "off";
  return fmt::format("{} rank{}{}", info.ranks, info.ranks == 1 ? "" : "s", shares ? " with ZeRO-" + zero : "");
}

const NumberFormat& format_of(const record::RunInfo& run) {
  const predict::Precision precision = predict::settings_of(run, experiments::training_step().schema).precision;
  return number_format(precision == predict::Precision::kFp32        ? "fp32"
                       : precision == predict::Precision::kFp16Mixed ? "fp16"
                                                                     : "bf16");
}

// (B − A) / A at the steps of both runs.
LossByStep relative_difference(const LossByStep& run, const LossByStep& baseline) {
  LossByStep change;
  for (const auto& [step, loss] : run)
    if (const auto before = baseline.find(step); before != baseline.end() && before->second != 0)
      change[step] = (loss - before->second) / before->second;
  return change;
}

double largest_of(const LossByStep& change) {
  double largest = 0;
  for (const auto& [step, value] : change) largest = std::max(largest, std::abs(value));
  return largest;
}

ChartSeries difference_series(const LossByStep& change, const record::RunInfo& run) {
  ChartSeries series{.label = ranks_text(run), .kind = SeriesKind::kFused};
  for (const auto& [step, value] : change) {
    ChartPoint point = exact_point(static_cast<double>(step), value);
    if (change.size() <= kMostDifferenceTips)
      point.tip = fmt::format("step {}: {} of the loss", step, small_text(value));
    series.points.push_back(std::move(point));
  }
  return series;
}

void add_rounding(Chart& chart, const NumberFormat& format, double largest) {
  const double half_spacing = spacing_at(format, 1) / 2;
  if (half_spacing > kFarLevel * largest || largest > kNearLevel * half_spacing) return;
  chart.add_level(fmt::format("{} rounds by up to {}", format.name, small_text(half_spacing)), half_spacing);
  chart.add_level({}, -half_spacing);
}

Chart chart_of(const LossByStep& change, const record::Recording& run, const record::Recording& baseline, Axis steps) {
  const double largest = largest_of(change);
  const std::string pair = fmt::format("{} against {}", ranks_text(run.info()), ranks_text(baseline.info()));
  Chart chart{.title = largest == 0 ? pair + ": no difference in any step"
                                    : fmt::format("{}: up to {} of the loss", pair, small_text(largest)),
              .x = std::move(steps),
              .y = {.unit = AxisUnit::kNumber, .name = "B − A, as a share of A's loss"}};
  chart.series.push_back(difference_series(change, run.info()));
  chart.add_level({}, 0);
  add_rounding(chart, format_of(run.info()), largest);
  double end = largest == 0 ? kHalfAxis : largest;
  for (const ChartReference& level : chart.references) end = std::max(end, level.y.front());
  chart.y.low = -1.25 * end, chart.y.high = 1.25 * end;
  return chart;
}

void add_loss_difference_panels(FigureData& figure, const FigureInput& input) {
  const record::Recording& run = input.run->recording();
  const LossByStep losses = losses_of(run);
  if (losses.empty()) return figure.leave_empty(why_no_loss(run));
  if (input.baseline == nullptr)
    return figure.leave_empty(
        "Pin a run as run A, such as one rank with as many sequences: the figure compares losses.");
  const record::Recording& baseline = input.baseline->recording();
  const LossByStep before = losses_of(baseline), change = relative_difference(losses, before);
  if (change.empty()) return figure.leave_empty("There is no step that both runs have.");
  add_baseline(figure.head.provenance, baseline);
  figure.add(chart_of(change, run, baseline, steps_axis(run.info(), losses, before)));
}

}  // namespace

extern const Figure kLossDifference;
constinit const Figure kLossDifference{
    .id = "loss_difference",
    .title = "Loss minus run A's",
    .caption = "The difference of two runs' losses by step, as a share of the loss, next to the rounding of one number",
    .schema = {},
    .add_panels = add_loss_difference_panels,
};

}  // namespace headroom::lessons
