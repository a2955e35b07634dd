// Peak memory and speed of any sweep. For a sweep over a number, adds the closed form of activations, which a page
// shows before its sweep has run.
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/technique_table.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/sweep.h"
#include "lessons/names.h"
#include "lessons/params.h"
#include "lessons/theory/activation_line.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

constexpr std::array kPeaks{record::Choice{"kinds", "by kind"}, record::Choice{"total", "in total"}};
constexpr std::array kSweepCurveSchema{
    experiments::choice("peak", "Peak", "Split by kind of memory, if the sweep has one series, or the sum", kPeaks,
                        "kinds"),
};

constexpr std::array kLooks{SeriesKind::kFused, SeriesKind::kEager, SeriesKind::kLibrary, SeriesKind::kOther};

// "batch" of "batch=4"; empty for names.
std::string_view key_of_label(std::string_view label) {
  const std::size_t equals = label.find('=');
  return equals == std::string_view::npos ? std::string_view() : label.substr(0, equals);
}

std::string name_of(const SweepPoint& point) { return point.series + (point.series.empty() ? "" : ", ") + point.label; }

// "4" of "batch=4", if it is a number.
std::optional<double> number_of_label(std::string_view label) {
  const std::string_view text = label.substr(label.find('=') + 1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The x axis: the labels' numbers, or categories in the order in which they ran.
struct Places {
  std::string key;                 // "batch"; empty for names
  const record::ParamSpec* swept;  // null: labels are no numbers
  std::vector<std::string> labels;

  double of(const SweepPoint& point) const {
    if (swept != nullptr) return *number_of_label(point.label);
    return static_cast<double>(std::ranges::find(labels, point.label) - labels.begin());
  }
  std::vector<std::string> shown() const {
    std::vector<std::string> texts = labels;
    for (std::string& text : texts) text = key.empty() ? experiments::ladder_label(text) : text.substr(key.size() + 1);
    return texts;
  }
};

// Null if the schema lacks the key or its values are no numbers.
const record::ParamSpec* number_spec(record::Schema schema, std::string_view key) {
  const record::ParamSpec* const spec = record::find_spec(schema, key);
  const bool number =
      spec != nullptr && (spec->kind == record::ParamKind::kInteger || spec->kind == record::ParamKind::kReal ||
                          spec->kind == record::ParamKind::kBytes);
  return number ? spec : nullptr;
}

Places places_of(record::Schema schema, const std::vector<std::string>& labels) {
  Places places{std::string(key_of_label(labels.front())), nullptr, {}};
  for (const std::string& label : labels) {
    if (key_of_label(label) != places.key) places.key.clear();
    if (std::ranges::find(places.labels, label) == places.labels.end()) places.labels.push_back(label);
  }
  const bool numbers =
      std::ranges::all_of(labels, [](const auto& label) { return number_of_label(label).has_value(); });
  if (numbers && !places.key.empty()) places.swept = number_spec(schema, places.key);
  return places;
}

Places places_of(const record::Recording& recording) {
  std::vector<std::string> labels;
  for (const SweepPoint& point : recording.sweep_points()) labels.push_back(point.label);
  return places_of(schema_of(recording.info()), labels);
}

std::string axis_name(const record::ParamSpec& swept) {
  return std::string(swept.label) + (swept.unit.empty() ? "" : ", " + std::string(swept.unit));
}

Chart chart_over(const Places& places, AxisUnit unit, std::string title) {
  Chart chart;
  chart.title = std::move(title);
  chart.y.unit = unit;
  if (places.swept == nullptr) {
    chart.categories = places.shown();
    chart.x = category_axis(places.labels.size(), places.key);
    return chart;
  }
  double highest = 0;
  for (const std::string& label : places.labels) highest = std::max(highest, *number_of_label(label));
  chart.x = {.unit = places.swept->kind == record::ParamKind::kBytes ? AxisUnit::kBytes : AxisUnit::kNumber,
             .low = 0,
             .high = highest > 0 ? 1.05 * highest : 1,
             .name = axis_name(*places.swept)};
  return chart;
}

void add_kinds(Chart& chart, const record::Recording& recording, const Places& places) {
  const ShownUnit unit = unit_of_peaks(recording);
  chart.bars = chart.stacked = true;
  for (int i = 0; i < record::kNumCategories; ++i) {
    const auto category = static_cast<record::Category>(i);
    ChartSeries series{.label = capitalised(record::label_of(category)), .category = category};
    bool any = false;
    for (const SweepPoint& point : recording.sweep_points()) {
      const auto bytes = static_cast<double>(point.peak.by_category[static_cast<std::size_t>(i)]);
      any = any || bytes > 0;
      series.points.push_back({.x = places.of(point),
                               .y = bytes,
                               .low = bytes,
                               .high = bytes,
                               .tip = point_text(point, name_of(point), unit),
                               .out_of_memory = ran_out(point)});
    }
    if (any) chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return;
  // The sum is written over each stack.
  for (std::size_t i = 0; i < recording.sweep_points().size(); ++i)
    if (const record::Bytes peak = recording.sweep_points()[i].peak.allocated; peak > 0)
      chart.series.back().points[i].label = bytes_text(peak, unit, 1);
}

void add_series(Chart& chart, const record::Recording& recording, const Places& places,
                ChartPoint (*point_at)(double x, const SweepPoint& point, std::string_view name,
                                       const ShownUnit& unit)) {
  const ShownUnit unit = unit_of_peaks(recording);
  const std::vector<std::string> names = series_of(recording);
  for (std::size_t i = 0; i < names.size(); ++i) {
    ChartSeries series{.label = names.size() > 1 ? names[i] : "", .kind = kLooks[i % kLooks.size()]};
    for (const SweepPoint& point : recording.sweep_points())
      if (point.series == names[i] && (completed(point) || ran_out(point)))
        series.points.push_back(point_at(places.of(point), point, name_of(point), unit));
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
}

// For a sweep over a number: the total, and the activations to compare with the line.
void add_activations(Chart& chart, const record::Recording& recording, const Places& places) {
  constexpr auto kKind = record::Category::kActivations;
  const ShownUnit unit = unit_of_peaks(recording);
  ChartSeries whole{.label = "in total", .kind = SeriesKind::kFused},
      activations{.label = "activations", .kind = SeriesKind::kOther};
  for (const SweepPoint& point : recording.sweep_points()) {
    if (!completed(point) && !ran_out(point)) continue;
    whole.points.push_back(peak_at(places.of(point), point, name_of(point), unit));
    if (ran_out(point)) continue;
    const record::Bytes bytes = point.peak.by_category[static_cast<std::size_t>(kKind)];
    activations.points.push_back(
        exact_point(places.of(point), static_cast<double>(bytes),
                    fmt::format("{}: activations {} at the peak", name_of(point), bytes_text(bytes, unit))));
  }
  if (!whole.points.empty()) chart.series.push_back(std::move(whole));
  if (!activations.points.empty()) chart.series.push_back(std::move(activations));
}

Chart peaks_of(const record::Recording& recording, const Places& places, const record::Params& params) {
  Chart peaks = chart_over(places, AxisUnit::kBytes, "Peak memory");
  peaks.y.shown = unit_of_peaks(recording);
  const bool kinds = params.text("peak") == "kinds" && series_of(recording).size() == 1;
  if (!kinds)
    add_series(peaks, recording, places, &peak_at);
  else if (places.swept != nullptr)
    add_activations(peaks, recording, places);
  else
    add_kinds(peaks, recording, places);
  fit_y(peaks);
  if (!kinds || places.swept != nullptr) return peaks;
  const auto highest = static_cast<double>(std::max<record::Bytes>(highest_peak(recording), 1));
  Chart whole{.y = peaks.y, .series = {{.points = {{.y = highest}}}}};
  fit_y(whole);
  peaks.y = whole.y;
  return peaks;
}

Chart speeds_of(const record::Recording& recording, const Places& places) {
  Chart speeds = chart_over(places, AxisUnit::kNumber, "Speed");
  speeds.y.name = "tokens/s";
  add_series(speeds, recording, places, &speed_at);
  for (ChartSeries& series : speeds.series)
    for (ChartPoint& point : series.points)
      if (!point.out_of_memory && places.swept == nullptr) point.label = speed_text(point.y);
  fit_y(speeds);
  return speeds;
}

void add_points(FigureData& figure, const FigureInput& input) {
  const record::Recording& recording = input.run->recording();
  set_run(figure.head, recording, *input.params);
  if (!begin_sweep(figure.head, input)) return;
  Places places = places_of(recording);
  // Points of the page's sweep that have yet to run also have a place on the axis.
  if (places.swept != nullptr && !input.sweep.empty() && input.sweep.front().key == places.key)
    for (const std::string& value : input.sweep.front().values) places.labels.push_back(places.key + "=" + value);
  Chart peaks = peaks_of(recording, places, *input.params);
  if (peaks.series.empty()) return figure.leave_empty("No point of this sweep ran to its end.");
  const bool one = series_of(recording).size() == 1 && input.params->text("peak") == "kinds";
  if (places.swept != nullptr && one)
    add_activation_line(peaks, settings_of(recording, recording.sweep_points().front()), *places.swept);
  if (!peaks.references.empty()) fit_y(peaks);
  figure.add(std::move(peaks));
  figure.add(speeds_of(recording, places));
}

// The page's sweep with the reader's settings: the closed form's line and the points to run.
void add_closed_form(FigureData& figure, const FigureInput& input) {
  const experiments::SweepAxis& axis = input.sweep.front();
  const record::Params& settings = *input.settings;
  std::vector<std::string> labels;
  for (const std::string& value : axis.values) labels.push_back(axis.key + "=" + value);
  const Places places = places_of(settings.schema(), labels);
  Chart chart = chart_over(places, AxisUnit::kBytes, "Activations at the peak");
  if (places.swept != nullptr) add_activation_line(chart, settings, *places.swept);
  if (chart.references.empty())
    return figure.leave_empty("The sweep of this page has not run with these settings, which have no closed form.");
  ChartSeries values{.label = "by closed form", .kind = SeriesKind::kOther};
  std::vector<std::string> names;
  for (const experiments::SweptSettings& point : experiments::swept_settings(settings, input.sweep.first(1)))
    if (const auto bytes = closed_activation_bytes(point.params)) {
      values.points.push_back(exact_point(*number_of_label(point.label), static_cast<double>(*bytes)));
      names.push_back(point.label);
    }
  chart.joined = false;
  chart.series.push_back(std::move(values));
  figure.head.provenance_line = "closed form of the settings; the sweep has not run with them";
  set_formula(figure.head, settings);
  fit_y(chart);
  const ShownUnit unit = unit_of(chart.y);
  for (std::size_t i = 0; i < names.size(); ++i) {
    ChartPoint& point = chart.series.back().points[i];
    const auto bytes = static_cast<record::Bytes>(point.y);
    point.label = bytes_text(bytes, unit, 1);
    point.tip = fmt::format("{}: activations {} by closed form", names[i], bytes_text(bytes, unit));
  }
  figure.add(std::move(chart));
}

// True if the shown sweep's settings give the same bytes as the reader's.
bool fits(const FigureInput& input) {
  if (input.sweep.empty() || input.settings == nullptr) return true;  // nothing to compare with
  const auto& points = input.run->recording().sweep_points();
  if (points.empty()) return false;
  record::Params theirs = settings_of(input.run->recording(), points.front()), ours = *input.settings;
  for (const experiments::SweepAxis& axis : input.sweep)
    (void)ours.set(axis.key, std::string_view(theirs.as_text(axis.key)));
  return same_bytes(ours, theirs);
}

void add_sweep_curve_panels(FigureData& figure, const FigureInput& input) {
  if (input.run != nullptr && fits(input)) return add_points(figure, input);
  if (!input.sweep.empty() && input.settings != nullptr) return add_closed_form(figure, input);
  figure.head.empty_reason = "No sweep has run yet.";
}

}  // namespace

extern const Figure kSweepCurve;
constinit const Figure kSweepCurve{
    .id = "sweep_curve",
    .title = "A sweep",
    .caption = "Peak memory and tokens per second at each point of a sweep, next to the closed form of activations",
    .schema = kSweepCurveSchema,
    .basis = Basis::kSweep,
    .add_panels = add_sweep_curve_panels,
};

}  // namespace headroom::lessons
