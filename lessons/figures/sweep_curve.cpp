// Any sweep: peak memory and speed over what was swept.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/experiments/strategies.h"
#include "lessons/bench.h"
#include "lessons/names.h"
#include "lessons/sweep.h"

namespace headroom::lessons {

extern const Figure kSweepCurve;

namespace {

constexpr std::array kPeaks{record::Choice{"kinds", "by kind"}, record::Choice{"total", "in all"}};
constexpr std::array kSchema{
    record::ParamSpec{.key = "peak",
                      .label = "Peak",
                      .help = "By kind of memory where the sweep has one series, or the sum",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "kinds",
                      .choices = kPeaks},
};

constexpr std::array kLooks{SeriesKind::kFused, SeriesKind::kEager, SeriesKind::kLibrary, SeriesKind::kOther};

// "batch" of "batch=4"; a label that is no setting is a name.
std::string_view key_of_label(std::string_view label) {
  const std::size_t equals = label.find('=');
  return equals == std::string_view::npos ? std::string_view() : label.substr(0, equals);
}

// As the sweep was asked for: "seq=128, batch=4".
std::string name_of(const SweepPoint& point) { return point.series + (point.series.empty() ? "" : ", ") + point.label; }

// The places of the x axis: the labels' values, in the order in which they ran.
struct Places {
  std::string name;  // "batch"
  std::vector<std::string> labels;

  double of(const SweepPoint& point) const {
    return static_cast<double>(std::find(labels.begin(), labels.end(), point.label) - labels.begin());
  }
  std::vector<std::string> shown() const {
    std::vector<std::string> texts = labels;
    for (std::string& text : texts)
      text = name.empty() ? experiments::ladder_label(text) : text.substr(name.size() + 1);
    return texts;
  }
};

Places places_of(const record::Recording& recording) {
  Places places;
  const auto& points = recording.sweep_points();
  places.name = key_of_label(points.front().label);
  for (const SweepPoint& point : points) {
    if (key_of_label(point.label) != places.name) places.name.clear();
    if (std::find(places.labels.begin(), places.labels.end(), point.label) == places.labels.end())
      places.labels.push_back(point.label);
  }
  return places;
}

Chart chart_over(const Places& places, AxisUnit unit, std::string title) {
  Chart chart;
  chart.title = std::move(title);
  chart.categories = places.shown();
  chart.x = {.unit = AxisUnit::kCategory,
             .low = -0.5,
             .high = static_cast<double>(places.labels.size()) - 0.5,
             .name = places.name};
  chart.y.unit = unit;
  return chart;
}

void add_kinds(Chart& chart, const record::Recording& recording, const Places& places) {
  chart.bars = chart.stacked = true;
  for (int i = 0; i < record::kNumCategories; ++i) {
    const auto category = static_cast<record::Category>(i);
    ChartSeries series{.label = capitalised(record::label_of(category)), .category = category, .points = {}};
    bool any = false;
    for (const SweepPoint& point : recording.sweep_points()) {
      const auto bytes = static_cast<double>(point.peak_by_category[static_cast<std::size_t>(i)]);
      any = any || bytes > 0;
      series.points.push_back({.x = places.of(point),
                               .y = bytes,
                               .low = bytes,
                               .high = bytes,
                               .tip = point_text(point, name_of(point)),
                               .out_of_memory = ran_out(point)});
    }
    if (any) chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return;
  // The sum is over the highest bar.
  for (std::size_t i = 0; i < recording.sweep_points().size(); ++i)
    if (const record::Bytes peak = recording.sweep_points()[i].peak_allocated; peak > 0)
      chart.series.back().points[i].label = record::format_bytes(peak, 1);
}

void add_series(Chart& chart, const record::Recording& recording, const Places& places,
                ChartPoint (*point_at)(double x, const SweepPoint& point, std::string_view name)) {
  const std::vector<std::string> names = series_of(recording);
  for (std::size_t i = 0; i < names.size(); ++i) {
    ChartSeries series{.label = names.size() > 1 ? names[i] : "", .kind = kLooks[i % kLooks.size()], .points = {}};
    for (const SweepPoint& point : recording.sweep_points())
      if (point.series == names[i] && (completed(point) || ran_out(point)))
        series.points.push_back(point_at(places.of(point), point, name_of(point)));
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
}

double highest_stack(const record::Recording& recording) {
  record::Bytes high = 1;
  for (const SweepPoint& point : recording.sweep_points()) high = std::max(high, point.peak_allocated);
  return static_cast<double>(high);
}

void add_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  if (!begin_sweep(figure.head, input)) return;
  const record::Recording& recording = input.run->recording();
  const Places places = places_of(recording);

  Chart peaks = chart_over(places, AxisUnit::kBytes, "Peak memory");
  const bool kinds = params.text("peak") == "kinds" && series_of(recording).size() == 1;
  if (kinds)
    add_kinds(peaks, recording, places);
  else
    add_series(peaks, recording, places, &peak_at);
  Chart speeds = chart_over(places, AxisUnit::kNumber, "Speed");
  speeds.y.name = "tokens/s";
  add_series(speeds, recording, places, &speed_at);
  for (ChartSeries& series : speeds.series)
    for (ChartPoint& point : series.points)
      if (!point.out_of_memory) point.label = speed_text(point.y);
  if (peaks.series.empty()) {
    figure.head.empty_reason = "None of the points of this sweep ran.";
    return;
  }
  fit_y(peaks);
  if (kinds) {
    Chart whole{.y = {.unit = AxisUnit::kBytes}, .series = {{.points = {{.y = highest_stack(recording)}}}}};
    fit_y(whole);
    peaks.y = whole.y;
  }
  fit_y(speeds);
  figure.panels.emplace_back(std::move(peaks));
  figure.panels.emplace_back(std::move(speeds));
}

}  // namespace

constinit const Figure kSweepCurve{
    .id = "sweep_curve",
    .title = "A sweep",
    .caption = "Peak memory by kind and tokens per second, point by point",
    .schema = kSchema,
    .add_panels = add_panels,
};

}  // namespace headroom::lessons
