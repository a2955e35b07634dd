// The report's experiment, repeated: speed and peak memory against batch and against sequence, with published points
// and a closed form.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "demos/predict/forms/report_form.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/report_sweep.h"
#include "lessons/measurements/sweep.h"
#include "lessons/measurements/tables.h"
#include "lessons/params.h"

namespace headroom::lessons {
namespace {

constexpr std::array<record::Choice, 2> kStrategyChoices{
    {{"three", "all three strategies"}, {"two", "without and with all kernels"}}};
constexpr std::array<record::Choice, 2> kShownOrNot{{{"on", "shown"}, {"off", "hidden"}}};
constexpr std::array<record::Choice, 2> kSteps{{{"linear", "linear"}, {"even", "even steps"}}};
constexpr std::array kReportRunsSchema{
    experiments::choice("strategies", "Strategies",
                        "The report shows two first, then adds the fused kernels without the fused loss",
                        kStrategyChoices, "three"),
    switch_param("published", "Published points", "Points that the report measured on an RTX 4090", kShownOrNot, true),
    switch_param("formula", "Closed form", "Closed form of the report's peaks", kShownOrNot, true),
    experiments::choice("spacing", "Axis", "The report spaces its points evenly, which bends straight lines", kSteps,
                        "linear"),
};

double place_of(const ReportSweep& sweep, std::int64_t value) {
  if (!sweep.even) return static_cast<double>(value);
  return static_cast<double>(std::ranges::find(sweep.places, value) - sweep.places.begin());
}

std::string name_of(const StrategyLook& strategy, std::int64_t batch, std::int64_t seq) {
  return fmt::format("{}, batch {}, {} tokens", strategy.short_label, batch, record::format_count(seq));
}

double closed_peak(const StrategyLook& strategy, double batch, std::int64_t seq) {
  return static_cast<double>(predict::report_peak(*predict::report_loss(strategy.key), batch, seq).bytes());
}

// The axis ends above each series's first failure; later failures are far higher.
void fit_to_first_failures(Chart& chart) {
  Chart fitted = chart;
  for (ChartSeries& series : fitted.series) {
    bool seen = false;
    std::erase_if(series.points, [&](const ChartPoint& point) { return point.would_be && std::exchange(seen, true); });
  }
  fit_y(fitted);
  chart.y = fitted.y;
}

void add_measured(Chart& peaks, Chart& speeds, const ReportSweep& sweep, const StrategyLook& strategy,
                  const record::Recording& recording) {
  ChartSeries peak{.label = std::string(strategy.label), .kind = strategy.kind, .named_at_end = true};
  ChartSeries speed = peak;
  for (const std::int64_t value : sweep.places)
    for (const SweepPoint& point : recording.sweep_points()) {
      if (point.series != strategy.key || setting(point, sweep.fixed) != sweep.at ||
          setting(point, sweep.over) != value || (!completed(point) && !ran_out(point)))
        continue;
      const std::string name = name_of(strategy, setting(point, "batch"), setting(point, "seq"));
      peak.points.push_back(peak_at(place_of(sweep, value), point, name, unit_of(peaks.y)));
      if (ran_out(point)) {
        if (!sweep.comparable) continue;  // no closed form applies to the sweep
        peak.points.back().would_be = true;
        peak.points.back().y =
            closed_peak(strategy, static_cast<double>(setting(point, "batch")), setting(point, "seq"));
        continue;
      }
      speed.points.push_back(speed_at(place_of(sweep, value), point, name, unit_of(peaks.y)));
    }
  if (peak.points.empty()) return;
  peaks.series.push_back(std::move(peak));
  speeds.series.push_back(std::move(speed));
}

void add_published(Chart& peaks, Chart& speeds, const ReportSweep& sweep, const StrategyLook& strategy) {
  ChartSeries peak{.label = fmt::format("{}, published", strategy.short_label),
                   .kind = strategy.kind,
                   .published = true,
                   .legend = "published, on an RTX 4090"};
  ChartSeries speed = peak;
  for (const PublishedRun& run : published_runs()) {
    if (run.experiment != sweep.experiment || run.strategy != strategy.key || run.out_of_memory) continue;
    const double x = place_of(sweep, sweep.over == "batch" ? run.batch : run.seq);
    const std::string tip =
        fmt::format("RTX 4090, published: {}: {}, {} tokens/s", name_of(strategy, run.batch, run.seq),
                    bytes_text(run.peak, unit_of(peaks.y)), speed_text(run.tokens_per_second));
    peak.points.push_back(exact_point(x, static_cast<double>(run.peak), tip));
    speed.points.push_back(exact_point(x, run.tokens_per_second, tip));
  }
  peaks.series.push_back(std::move(peak));
  speeds.series.push_back(std::move(speed));
}

// Adds the closed form up to the chart's top. On an even axis, x is linear between places.
void add_formula(Chart& peaks, const ReportSweep& sweep, const StrategyLook& strategy) {
  constexpr int kPieces = 12;
  // Named once, because each line runs through its strategy's published points.
  ChartReference line{.label = strategy.key == "liger_all" ? "closed form" : ""};
  for (std::size_t i = 0; i + 1 < sweep.places.size(); ++i) {
    const auto from = static_cast<double>(sweep.places[i]), to = static_cast<double>(sweep.places[i + 1]);
    for (int piece = 0; piece <= kPieces; ++piece) {
      const double part = static_cast<double>(piece) / kPieces, value = from + part * (to - from);
      const double x = sweep.even ? static_cast<double>(i) + part : value;
      const bool over_batch = sweep.over == "batch";
      const double batch = over_batch ? value : static_cast<double>(sweep.at);
      const auto seq = over_batch ? sweep.at : static_cast<std::int64_t>(value);
      const double y = closed_peak(strategy, batch, seq);
      if (y > peaks.y.high) {  // the line ends where it leaves the chart
        if (line.y.empty()) return;
        const double rise = (peaks.y.high - line.y.back()) / (y - line.y.back());
        line.x.push_back(line.x.back() + rise * (x - line.x.back()));
        line.y.push_back(peaks.y.high);
        peaks.references.push_back(std::move(line));
        return;
      }
      line.x.push_back(x);
      line.y.push_back(y);
    }
  }
  if (!line.x.empty()) peaks.references.push_back(std::move(line));
}

Chart chart_of(const ReportSweep& sweep, std::string title, AxisUnit unit) {
  Chart chart;
  chart.title = std::move(title);
  chart.x.name = sweep.over == "batch" ? fmt::format("batch B, {} tokens each", record::format_count(sweep.at))
                                       : fmt::format("tokens per sequence T, batch {}", sweep.at);
  if (sweep.even) {
    for (const std::int64_t value : sweep.places) chart.categories.push_back(record::format_count(value));
    chart.x = category_axis(sweep.places.size(), chart.x.name);
  } else {
    chart.x.unit = AxisUnit::kNumber;
    chart.x.high = 1.03 * static_cast<double>(sweep.places.empty() ? 1 : sweep.places.back());
  }
  chart.y.unit = unit;
  return chart;
}

// The question is where the 2024 code fails: only its completed runs and the card are shown.
void hide_answer(Chart& chart) {
  std::erase_if(chart.series,
                [](const ChartSeries& series) { return series.kind != SeriesKind::kEager || series.published; });
  for (ChartSeries& series : chart.series)
    std::erase_if(series.points, [](const ChartPoint& point) { return point.would_be; });
}

void add_report_runs_panels(FigureData& figure, const FigureInput& input, ReportSweep sweep) {
  const record::Params& params = *input.params;
  if (!begin_sweep(figure.head, input)) return;
  const record::Recording& recording = input.run->recording();
  find_points(sweep, recording);
  sweep.even = params.text("spacing") == "even";
  const bool published = sweep.comparable && params.on("published");
  if (published) {
    std::set<std::int64_t> places(sweep.places.begin(), sweep.places.end());
    for (const PublishedRun& run : published_runs())
      if (run.experiment == sweep.experiment) places.insert(sweep.over == "batch" ? run.batch : run.seq);
    sweep.places.assign(places.begin(), places.end());
  }
  Chart speeds = chart_of(sweep, "Speed", AxisUnit::kNumber);
  Chart peaks = chart_of(sweep, "Peak memory", AxisUnit::kBytes);
  peaks.y.shown = unit_of_peaks(recording);
  speeds.y.name = "tokens/s";
  const auto shown = [&](const StrategyLook& strategy) {
    return params.text("strategies") == "three" || strategy.key != "liger_without_flce";
  };
  for (const StrategyLook& strategy : kStrategyLooks)
    if (shown(strategy)) add_measured(peaks, speeds, sweep, strategy, recording);
  if (peaks.series.empty()) return figure.leave_empty("This sweep is not the report's: run `headroom report`.");
  for (const StrategyLook& strategy : kStrategyLooks)
    if (published && shown(strategy)) add_published(peaks, speeds, sweep, strategy);
  if (const record::Bytes cap = recording.info().cap; cap > 0)
    peaks.add_level("card, " + short_bytes(cap, unit_of(peaks.y)), static_cast<double>(cap), true);
  const bool hidden = input.view.hidden;
  for (Chart* chart : {&speeds, &peaks}) {
    if (hidden) hide_answer(*chart);
    fit_to_first_failures(*chart);
  }
  for (const StrategyLook& strategy : kStrategyLooks)
    if (sweep.comparable && params.on("formula") && shown(strategy) && !hidden) add_formula(peaks, sweep, strategy);
  figure.add(std::move(speeds));
  figure.add(std::move(peaks));
}

void add_batch(FigureData& figure, const FigureInput& input) {
  add_report_runs_panels(figure, input, report_over_batch());
}
void add_sequence(FigureData& figure, const FigureInput& input) {
  add_report_runs_panels(figure, input, report_over_sequence());
}

}  // namespace

extern const Figure kReportBatch;
constinit const Figure kReportBatch{
    .id = "report_batch",
    .title = "Report: batch",
    .caption = "Speed and peak memory of three ways to train by batch size, with the report's points",
    .schema = kReportRunsSchema,
    .add_panels = add_batch,
};

extern const Figure kReportSequence;
constinit const Figure kReportSequence{
    .id = "report_sequence",
    .title = "Report: sequence",
    .caption = "Speed and peak memory of three ways to train by sequence length, with the report's points",
    .schema = kReportRunsSchema,
    .add_panels = add_sequence,
};

}  // namespace headroom::lessons
