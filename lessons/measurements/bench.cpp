#include "lessons/measurements/bench.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "kernels/kernel.h"
#include "lessons/axes.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

constexpr std::string_view kReport = "report.";
constexpr double kLongestWhisker = 1.6;  // as a multiple of the point's y; longer whiskers are cut off

std::string_view kernel_of(std::string_view panel) {
  return panel.starts_with(kReport) ? panel.substr(kReport.size()) : panel;
}

bool same_shape(const Measurement& a, const Measurement& b) {
  return a.rows == b.rows && a.width == b.width && a.vocab == b.vocab && a.label == b.label && a.storage == b.storage;
}

std::string three_digits(double value) {
  if (value >= 1000) return record::format_count(std::llround(value));
  return fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

}  // namespace

std::string main_timing(const record::Recording& recording) {
  for (const Measurement& row : recording.measurements())
    if (row.timing == "cold") return "cold";
  return "wall";
}

std::vector<const Measurement*> rows_of(const record::Recording& recording, std::string_view panel,
                                        std::string_view pass, std::string_view timing) {
  std::vector<const Measurement*> rows;
  for (const Measurement& row : recording.measurements())
    if (row.panel == panel && row.pass == pass && row.timing == timing) rows.push_back(&row);
  return rows;
}

std::vector<std::string> measured_panels(const record::Recording& recording, std::string_view pass) {
  std::vector<std::string> panels;
  for (const kernels::KernelInfo* kernel : kernels::kernels())
    for (const Measurement& row : recording.measurements()) {
      if (row.panel != kernel->id || row.pass != pass) continue;
      panels.emplace_back(kernel->id);
      break;
    }
  return panels;
}

std::string panel_title(std::string_view panel) {
  const kernels::KernelInfo* kernel = kernels::find_kernel(kernel_of(panel));
  return std::string(kernel == nullptr ? panel : kernel->title);
}

std::string variant_label(std::string_view variant) {
  if (variant == "library") return "LibTorch's own";
  if (variant == "matmul") return "the three GEMMs alone";
  if (variant == "fused_fp32") return "fused, fp32 dW";
  if (variant == "fused_lean") return "fused, lean";
  return std::string(variant);
}

SeriesKind kind_of(std::string_view variant) {
  if (variant.starts_with("fused")) return SeriesKind::kFused;
  if (variant == "eager") return SeriesKind::kEager;
  return variant == "library" ? SeriesKind::kLibrary : SeriesKind::kOther;
}

std::string shape_label(const Measurement& row) {
  if (!row.label.empty()) return row.label;
  if (row.vocab > 0) return fmt::format("{}×{}", record::format_count(row.rows), record::format_count(row.width));
  return record::format_count(row.width);
}

std::string shape_name(std::string_view panel) {
  const kernels::KernelInfo* kernel = kernels::find_kernel(kernel_of(panel));
  if (kernel == nullptr) return {};
  return std::string(panel.starts_with(kReport) ? kernel->report.axis : kernel->bench.axis);
}

std::string time_text(double nanoseconds) {
  if (nanoseconds >= 1e6) return three_digits(nanoseconds / 1e6) + " ms";
  return three_digits(nanoseconds / 1e3) + " µs";
}

bool through_buffer(const Measurement& row) {
  const bool over_bus = row.variant == "to_device" || row.variant == "to_host" || row.variant == "both_ways";
  return over_bus && row.storage == "pageable";
}

double link_rate(const record::Recording& recording, std::string_view variant) {
  for (const Measurement& row : recording.measurements())
    if (row.panel == Measurement::kBandwidth && row.variant == variant && row.median > 0 && !through_buffer(row))
      return rate_of(row);
  return 0;
}

std::string rate_text(double bytes_per_second) {
  return bytes_per_second >= 1e12 ? fmt::format("{:.2f} TB/s", bytes_per_second / 1e12)
                                  : three_digits(bytes_per_second / 1e9) + " GB/s";
}

double rate_of(const Measurement& row) {
  return row.median > 0 ? static_cast<double>(row.bytes) / row.median * 1e9 : 0;
}

RowUnits units_of(std::span<const Measurement* const> rows) {
  double time = 0, rate = 0, memory = 0;
  for (const Measurement* row : rows) {
    if (row->samples > 0) time = std::max(time, row->median);
    rate = std::max(rate, rate_of(*row));
    memory = std::max(memory, static_cast<double>(row->extra_memory));
  }
  return {.time = time_unit(time), .rate = rate_unit(rate), .memory = byte_unit(memory)};
}

Spread time_of(const Measurement& row) {
  if (row.samples == 0 || row.variant == "copy") return {};
  return {row.median, row.low, row.high};
}

std::string time_with_spread(const Measurement& row, const ShownUnit& unit) {
  return fmt::format("{} ({} to {})", amount_text(row.median, unit), in_unit(row.low, unit), in_unit(row.high, unit));
}

std::string row_text(const Measurement& row, const RowUnits& units) {
  return fmt::format("{}, {}, {}, {}: {}, {} repeats", panel_title(row.panel), variant_label(row.variant),
                     shape_label(row), row.storage, time_with_spread(row, units.time), row.samples);
}

Chart chart_by_shape(std::span<const Measurement* const> rows, const RowUnits& units,
                     Spread (*value)(const Measurement& row),
                     std::string (*tip)(const Measurement& row, const RowUnits& units)) {
  Chart chart;
  std::vector<const Measurement*> places;
  for (const Measurement* row : rows) {
    const Spread y = value(*row);
    if (y.value < 0) continue;
    auto place = std::ranges::find_if(places, [&](const auto* p) { return same_shape(*p, *row); });
    if (place == places.end()) place = places.insert(places.end(), row);
    series_of(chart, row->variant)
        .points.push_back({.x = static_cast<double>(place - places.begin()),
                           .y = y.value,
                           .low = y.low,
                           .high = y.high,
                           .tip = tip(*row, units)});
  }
  for (const Measurement* place : places) chart.categories.push_back(shape_label(*place));
  chart.x = category_axis(std::max<std::size_t>(1, places.size()),
                          rows.empty() ? std::string() : shape_name(rows.front()->panel));
  return chart;
}

void label_times(Chart& chart) {
  for (ChartSeries& series : chart.series)
    for (ChartPoint& point : series.points) point.label = amount_text(point.y, unit_of(chart.y));
}

// The largest sum of the series at one x.
double highest_stack(const Chart& chart) {
  std::map<double, double> sums;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) sums[point.x] += point.y;
  double highest = 0;
  for (const auto& [x, sum] : sums) highest = std::max(highest, sum);
  return highest;
}

void fit_y(Chart& chart) {
  double low = HUGE_VAL, high = 0;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) {
      low = std::min(low, point.low > 0 ? point.low : point.y);
      // Cuts off a spread that would dominate the chart.
      high = std::max({high, point.y, std::min(point.high, kLongestWhisker * point.y)});
    }
  if (chart.stacked) high = std::max(high, highest_stack(chart));
  for (const ChartReference& reference : chart.references)
    for (const double y : reference.y) {
      low = std::min(low, y);
      high = std::max(high, y);
    }
  if (high <= 0) high = 1;
  if (chart.y.logarithmic) {
    if (!(low > 0) || low > high) low = high;
    chart.y.low = std::pow(10, std::floor(std::log10(low)));
    chart.y.high = std::pow(10, std::ceil(std::log10(high * 2)));
    return;
  }
  chart.y.low = 0;
  chart.y.high = chart.y.unit == AxisUnit::kBytes ? round_up_bytes(high * 1.1) : high * 1.1;
}

ChartSeries& series_of(Chart& chart, std::string_view variant) {
  const std::string label = variant_label(variant);
  for (ChartSeries& series : chart.series)
    if (series.label == label) return series;
  return chart.series.emplace_back(ChartSeries{.label = label, .kind = kind_of(variant)});
}

void make_parts_of_copy(Chart& chart, std::vector<std::string> categories, std::string copy_label) {
  chart.bars = true;
  chart.categories = std::move(categories);
  chart.x = category_axis(chart.categories.size());
  chart.y.unit = AxisUnit::kPercent;
  chart.y.name = "bandwidth reached, as a fraction of a copy's";
  chart.add_level(std::move(copy_label), 100);
  fit_y(chart);
}

bool begin_bench(FigureHead& head, const FigureInput& input) {
  const record::Recording& recording = input.run->recording();
  head.growing = !recording.outcome().has_value();
  if (!recording.measurements().empty()) return true;
  head.empty_reason = head.growing ? "The first kernel is being measured." : "This run measured no kernels.";
  return false;
}

}  // namespace headroom::lessons
