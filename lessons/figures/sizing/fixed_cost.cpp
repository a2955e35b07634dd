// Time of the report's step against tokens per step, with two laws fitted to published points and to the shown run's
// points: a fixed time plus a time per token, or the larger of the two.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "lessons/measurements/bench.h"
#include "lessons/measurements/report_sweep.h"
#include "lessons/measurements/tables.h"
#include "lessons/params.h"
#include "lessons/theory/line_fit.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

constexpr std::array<record::Choice, 2> kOver{{{"batch", "batch"}, {"sequence", "sequence"}}};
constexpr std::array<record::Choice, 2> kShown{{{"time", "step time"}, {"speed", "tokens/s"}}};
constexpr std::array<record::Choice, 3> kPoints{{{"all", "all points"}, {"5", "first five"}, {"3", "first three"}}};
constexpr std::array<record::Choice, 4> kWhatIf{{{"measured", "as it is"},
                                                 {"half_fixed", "half fixed"},
                                                 {"no_fixed", "none fixed"},
                                                 {"half_slope", "half per token"}}};
constexpr std::array kFixedCostSchema{
    experiments::choice("shows", "Shows", "Time per step, or tokens per second", kShown, "time"),
    experiments::choice("over", "Direction", "One of the report's two sweeps", kOver, "batch"),
    experiments::choice("points", "Points of the fit",
                        "Points (all kernels, fewest tokens first) that both laws are fitted to", kPoints, "all"),
    experiments::choice("if", "What if", "Second line: the fit with one term changed", kWhatIf, "measured"),
};

// A step's tokens and nanoseconds, with spread.
struct Timed {
  std::int64_t batch = 0, seq = 0;
  double time = 0, low = 0, high = 0;

  double tokens() const { return static_cast<double>(batch * seq); }
};
using TimedSteps = std::map<std::int64_t, Timed>;  // by tokens

double time_of(double tokens, double tokens_per_second) { return tokens / tokens_per_second * 1e9; }
double speed_of(double tokens, double time) { return tokens / time * 1e9; }

// Repeated runs of the report give the slowest and fastest times.
TimedSteps published_steps(const ReportSweep& sweep, std::string_view strategy) {
  TimedSteps steps;
  for (const bool repeats : {false, true})
    for (const PublishedRun& run : published_runs()) {
      if (run.experiment != (repeats ? "repeat" : sweep.experiment) || run.strategy != strategy ||
          !(run.tokens_per_second > 0))
        continue;
      const std::int64_t tokens = run.batch * run.seq;
      const double time = time_of(static_cast<double>(tokens), run.tokens_per_second);
      if (!repeats) steps[tokens] = {run.batch, run.seq, time, time, time};
      if (const auto found = steps.find(tokens); repeats && found != steps.end()) {
        found->second.low = std::min(found->second.low, time);
        found->second.high = std::max(found->second.high, time);
      }
    }
  return steps;
}

TimedSteps recorded_steps(const ReportSweep& sweep, std::string_view strategy, const record::Recording& recording) {
  TimedSteps steps;
  for (const SweepPoint& point : recording.sweep_points()) {
    if (point.series != strategy || setting(point, sweep.fixed) != sweep.at || !completed(point) ||
        !(point.tokens_per_second_low > 0))
      continue;
    const std::int64_t batch = setting(point, "batch"), seq = setting(point, "seq");
    const auto tokens = static_cast<double>(batch * seq);
    steps[batch * seq] = {batch, seq, time_of(tokens, point.tokens_per_second),
                          time_of(tokens, point.tokens_per_second_high), time_of(tokens, point.tokens_per_second_low)};
  }
  return steps;
}

// The report's or the shown run's steps.
struct Owner {
  std::string name;
  bool published = false;
  std::array<TimedSteps, kStrategyLooks.size()> steps;

  const TimedSteps& plain() const { return steps.front(); }
  const TimedSteps& all() const { return steps.back(); }
};

std::vector<LinePoint> fitted_points(const Owner& owner, const record::Params& params) {
  const std::string& wanted = params.text("points");
  const std::size_t most = wanted == "all" ? owner.all().size() : static_cast<std::size_t>(std::stoi(wanted));
  std::vector<LinePoint> points;
  for (const auto& [tokens, step] : owner.all())
    if (points.size() < most) points.push_back({step.tokens(), step.time});
  return points;
}

// The changed line; empty: no change.
std::optional<LineFit> what_if(const LineFit& line, const std::string& change) {
  if (change == "half_fixed") return LineFit{line.at_zero / 2, line.slope};
  if (change == "no_fixed") return LineFit{0, line.slope};
  if (change == "half_slope") return LineFit{line.at_zero, line.slope / 2};
  return std::nullopt;
}

std::string words_of(const LineFit& line, const ShownUnit& unit) {
  return fmt::format("{} + {} per 1,000 tokens", amount_text(line.at_zero, unit), amount_text(1000 * line.slope, unit));
}

ChartPoint point_of(const Timed& step, std::string_view name, bool speeds, const ShownUnit& unit) {
  const double tokens = step.tokens(), speed = speed_of(tokens, step.time);
  const std::string tip = fmt::format("{}, batch {}, {} tokens: {} per step, {} tokens/s", name, step.batch,
                                      record::format_count(step.seq), amount_text(step.time, unit), speed_text(speed));
  if (!speeds) return {.x = tokens, .y = step.time, .low = step.low, .high = step.high, .tip = tip};
  return {.x = tokens, .y = speed, .low = speed_of(tokens, step.high), .high = speed_of(tokens, step.low), .tip = tip};
}

std::string words_of(const LargerFit& larger, const ShownUnit& unit) {
  return fmt::format("the larger of {} and {} per 1,000 tokens", amount_text(larger.constant, unit),
                     amount_text(1000 * larger.slope, unit));
}

// A law as a curve of time or speed, from zero tokens.
template <class Fit>
ChartReference curve_of(const Fit& fit, std::string label, const Axis& x, bool speeds) {
  constexpr int kPieces = 96;
  ChartReference curve{.label = std::move(label)};
  for (int piece = 0; piece <= kPieces; ++piece) {
    const double tokens = x.high * piece / kPieces, time = fit.at(tokens);
    if (time <= 0) continue;
    curve.x.push_back(tokens);
    curve.y.push_back(speeds ? speed_of(tokens, time) : time);
  }
  return curve;
}

template <class Fit>
std::string words_with_miss(const Fit& fit, std::span<const LinePoint> points, const ShownUnit& unit) {
  return fmt::format("{}, off by up to {:.0f} %", words_of(fit, unit), 100 * worst_miss(fit, points));
}

void add_laws(Chart& chart, std::span<const LinePoint> points, const ShownUnit& unit, const record::Params& params) {
  const bool speeds = params.text("shows") == "speed";
  const auto line = fit_line(points);
  const auto larger = fit_larger(points);
  if (!line || !larger) return;
  chart.references.push_back(curve_of(*line, words_with_miss(*line, points, unit), chart.x, speeds));
  chart.references.push_back(curve_of(*larger, words_with_miss(*larger, points, unit), chart.x, speeds));
  if (const auto other = what_if(*line, params.text("if")))
    chart.references.push_back(curve_of(*other, "if " + words_of(*other, unit), chart.x, speeds));
}

ShownUnit unit_of_times(const std::vector<Owner>& owners) {
  double longest = 0;
  for (const Owner& owner : owners)
    for (const TimedSteps& steps : owner.steps)
      for (const auto& [tokens, step] : steps) longest = std::max(longest, step.time);
  return time_unit(longest);
}

Chart chart_of(const Owner& owner, const ShownUnit& unit, const FigureInput& input) {
  const record::Params& params = *input.params;
  const bool speeds = params.text("shows") == "speed";
  Chart chart;
  chart.title = owner.name;
  chart.joined = false;
  chart.x = {.unit = AxisUnit::kNumber, .name = "tokens per step, B · T"};
  chart.y = {.unit = speeds ? AxisUnit::kNumber : AxisUnit::kNanoseconds};
  if (speeds)
    chart.y.name = "tokens/s";
  else
    chart.y.shown = unit;
  for (std::size_t i = 0; i < kStrategyLooks.size(); ++i) {
    const StrategyLook& strategy = kStrategyLooks[i];
    if (owner.steps[i].empty() || (input.view.hidden && i != 0)) continue;
    ChartSeries series{.label = std::string(strategy.label),
                       .kind = strategy.kind,
                       .published = owner.published,
                       .legend = owner.published ? "published, on an RTX 4090" : ""};
    for (const auto& [tokens, step] : owner.steps[i]) {
      series.points.push_back(point_of(step, strategy.short_label, speeds, unit));
      chart.x.high = std::max(chart.x.high, 1.05 * step.tokens());
    }
    chart.series.push_back(std::move(series));
  }
  if (!input.view.hidden) add_laws(chart, fitted_points(owner, params), unit, params);
  fit_y(chart);
  return chart;
}

// "+3.5, +1.2, −1.6 %": change from Hugging Face's steps of as many tokens.
std::string changes(const TimedSteps& steps, const TimedSteps& plain) {
  std::string words;
  for (const auto& [tokens, step] : plain) {
    const auto found = steps.find(tokens);
    if (found == steps.end()) continue;
    const double change = 100 * (found->second.time / step.time - 1);
    words += fmt::format("{}{}{:.1f}", words.empty() ? "" : ", ", change < 0 ? "−" : "+", std::abs(change));
  }
  return words.empty() ? "–" : words + " %";
}

std::string plain_words(const TimedSteps& plain, const ShownUnit& unit) {
  std::string times, at;
  for (const auto& [tokens, step] : plain) {
    times += (times.empty() ? "" : ", ") + in_unit(step.time, unit);
    at += (at.empty() ? "" : "; ") + record::format_count(tokens);
  }
  return fmt::format("Hugging Face's way: {} {} at {} tokens", times, unit.name, at);
}

// The largest difference between equal runs of the report, in percent.
double repeat_spread(const Owner& published) {
  double spread = 0;
  for (const auto& [tokens, step] : published.all()) spread = std::max(spread, 100 * (step.high / step.low - 1));
  return spread;
}

Table equal_steps(const std::vector<Owner>& owners, const ShownUnit& unit) {
  Table table{.head = "Change of step time at equal tokens", .columns = {"without FLCE", "all kernels"}};
  for (const Owner& owner : owners) {
    if (owner.plain().empty()) continue;
    table.rows.push_back({.name = owner.name,
                          .note = plain_words(owner.plain(), unit),
                          .cells = {changes(owner.steps[1], owner.plain()), changes(owner.all(), owner.plain())}});
    if (const double spread = owner.published ? repeat_spread(owner) : 0; spread > 0)
      table.foot =
          fmt::format("Four identical runs of the report, at batch 4 with all kernels, differ by {:.1f} %.", spread);
  }
  return table;
}

void add_fixed_cost_panels(FigureData& figure, const FigureInput& input) {
  if (!begin_sweep(figure.head, input)) return;
  const record::Recording& recording = input.run->recording();
  ReportSweep sweep = input.params->text("over") == "batch" ? report_over_batch() : report_over_sequence();
  find_points(sweep, recording);
  std::vector<Owner> owners{{"Report, RTX 4090", true, {}}, {"This run, " + device_name(recording.info()), false, {}}};
  for (std::size_t i = 0; i < kStrategyLooks.size(); ++i) {
    owners[0].steps[i] = published_steps(sweep, kStrategyLooks[i].key);
    owners[1].steps[i] = recorded_steps(sweep, kStrategyLooks[i].key, recording);
  }
  if (owners[1].all().empty()) return figure.leave_empty("This sweep is not the report's: run `headroom report`.");
  const ShownUnit unit = unit_of_times(owners);
  for (const Owner& owner : owners) figure.add(chart_of(owner, unit, input));
  if (!input.view.hidden) figure.add(equal_steps(owners, unit));
}

}  // namespace

extern const Figure kFixedCost;
constinit const Figure kFixedCost{
    .id = "fixed_cost",
    .title = "A step's fixed part",
    .caption =
        "Time of the report's step by tokens per step, published and measured here, with two laws fitted to the points",
    .schema = kFixedCostSchema,
    .add_panels = add_fixed_cost_panels,
};

}  // namespace headroom::lessons
