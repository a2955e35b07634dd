// The loss scale over steps, with skipped steps: measured in a run, and simulated for gradients of a given size.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/record/units.h"
#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/theory/loss_scale.h"
#include "lessons/theory/number_format.h"

namespace headroom::lessons {
namespace {

constexpr double kMostScale = 0x1p60;  // highest scale drawn; zero gradients let the scale grow forever
constexpr std::array kScaleTraceSchema{
    whole_param("first", "First scale", "First scale as a power of two: 16 is 65,536", 0, 24, 16),
    experiments::number("window", "Window", "steps", "Steps without overflow after which the scale grows", 1, 2'000,
                        100),
    whole_param("factor", "Factor", "Factor by which the scale grows and shrinks", 2, 16, 2),
    whole_param("hysteresis", "Hysteresis", "Overflows after which the scale shrinks; each of them skips its step", 1,
                4, 1),
    whole_param("largest", "Largest gradient", "Largest gradient of a typical step, as a power of two", -20, 10, 0),
    real_param("varies", "Varies by", "Standard deviation from step to step, in powers of two", 0, 4, 0.5),
    experiments::number("simulated", "Simulated steps", {}, "Steps to simulate", 10, 4'000, 1'000),
    whole_param("draw", "Draw", "Seed of the gradients' sizes", 0, 999'999, 0),
};

// A step's scale, and whether a gradient overflowed, which skips the step.
struct ScaledStep {
  double scale = 1;
  bool overflow = false;
};

// Steps from a run's metrics; empty if the run does not scale its loss.
std::vector<ScaledStep> measured(const record::Recording& run) {
  std::vector<ScaledStep> steps;
  double skipped = 0;
  for (const record::MetricSample& sample : run.metrics()) {  // a step's scale precedes its count of skipped steps
    if (sample.kind == record::MetricKind::kLossScale && sample.value >= 1) steps.push_back({.scale = sample.value});
    if (sample.kind != record::MetricKind::kSkippedSteps || steps.empty()) continue;
    steps.back().overflow = sample.value > skipped;
    skipped = sample.value;
  }
  return steps;
}

std::vector<ScaledStep> simulated(const record::Params& params) {
  LossScale rule(std::ldexp(1.0, static_cast<int>(params.integer("first"))),
                 {.window = static_cast<int>(params.integer("window")),
                  .factor = static_cast<double>(params.integer("factor")),
                  .hysteresis = static_cast<int>(params.integer("hysteresis"))});
  std::mt19937_64 random(static_cast<std::uint64_t>(params.integer("draw")));
  // A sum of twelve uniform numbers, nearly normal and the same on every machine.
  const auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += std::ldexp(static_cast<double>(random() >> 11), -53);
    return sum;
  };
  std::vector<ScaledStep> steps;
  for (std::int64_t i = 0; i < params.integer("simulated"); ++i) {
    const double largest = std::exp2(static_cast<double>(params.integer("largest")) + params.real("varies") * normal());
    const bool overflow = std::isinf(rounded(number_format("fp16"), std::min(rule.scale() * largest, 1e30)));
    steps.push_back({rule.scale(), overflow});
    rule.update(overflow);
  }
  return steps;
}

// A line with too many points for marks, and a mark per skipped step. Each mark is a series of its own, so that no line
// joins the marks.
void add_steps(Chart& chart, const std::vector<ScaledStep>& steps) {
  constexpr std::size_t kLinePoints = 300, kMostMarks = 200;
  ChartSeries line{.label = "loss scale", .kind = SeriesKind::kFused};
  std::vector<ChartSeries> skipped;
  const std::size_t each = 2 + kLinePoints / steps.size();
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const double y = std::log2(std::min(steps[step].scale, kMostScale)), x = static_cast<double>(step);
    const std::size_t first = line.points.size();
    for (std::size_t i = 0; i < each; ++i) {
      const double within = static_cast<double>(i) / static_cast<double>(each - 1);
      line.points.push_back(exact_point(x + within, y));
    }
    ChartPoint& begin = line.points[first];
    begin.tip = fmt::format("Step {}: {}", step, number_text(steps[step].scale));
    if (!steps[step].overflow || skipped.size() == kMostMarks) continue;
    ChartPoint mark = begin;
    mark.x += 0.5;
    mark.tip += ", a gradient overflowed, and the step was skipped";
    skipped.push_back({.label = fmt::format("skipped step {}", step),
                       .kind = SeriesKind::kFused,
                       .points = {std::move(mark)},
                       .legend = "overflow: the step is skipped"});
  }
  chart.series.push_back(std::move(line));
  std::move(skipped.begin(), skipped.end(), std::back_inserter(chart.series));
}

std::string counted(std::string_view whose, const std::vector<ScaledStep>& steps) {
  const auto skipped = std::ranges::count_if(steps, [](const ScaledStep& step) { return step.overflow; });
  return fmt::format("{}: {} of {} steps skipped", whose, record::format_count(skipped),
                     record::format_count(std::ssize(steps)));
}

Chart chart_of(std::string_view whose, const std::vector<ScaledStep>& steps) {
  Chart chart;
  chart.title = counted(whose, steps);
  add_steps(chart, steps);
  const auto count = static_cast<double>(steps.size());
  chart.x = number_axis(0, 1.02 * count, "step");
  const auto [low, high] = range_of(chart.series, &ChartPoint::y);
  chart.y = number_axis(std::max(0.0, low - 2), high + 2, "loss scale, as a power of two");
  return chart;
}

void add_scale_trace_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const std::vector<ScaledStep> run =
      input.run == nullptr ? std::vector<ScaledStep>{} : measured(input.run->recording());
  figure.head.provenance_line =
      fmt::format("{}rule: {} at overflow, × {} after {} steps without one", run.empty() ? "" : "shown run, and ",
                  params.integer("hysteresis") == 1
                      ? fmt::format("÷ {}", params.integer("factor"))
                      : fmt::format("÷ {} from overflow {} on", params.integer("factor"), params.integer("hysteresis")),
                  params.integer("factor"), record::format_count(params.integer("window")));
  if (input.view.hidden) return figure.leave_empty("Where the scale ends is the answer: lock yours, or skip.");
  if (!run.empty()) figure.add(chart_of("Measured in the run", run));
  Chart rule = chart_of("Simulated by the rule", simulated(params));
  // The scale at which a usual step's largest gradient meets fp16's largest number.
  const double limit = 16.0 - static_cast<double>(params.integer("largest"));
  rule.y.high = std::max(rule.y.high, limit + 1);
  rule.add_level("a typical step overflows", limit, true);
  figure.add(std::move(rule));
}

}  // namespace

extern const Figure kScaleTrace;
constinit const Figure kScaleTrace{
    .id = "scale_trace",
    .title = "The loss scale, step by step",
    .caption =
        "What the loss is multiplied by and which steps are skipped, measured in a run and simulated by the rule",
    .schema = kScaleTraceSchema,
    .basis = Basis::kParameters,
    .add_panels = add_scale_trace_panels,
};

}  // namespace headroom::lessons
