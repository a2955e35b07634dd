// Benchmark rows and the words for them, shared by figures.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {

using record::Measurement;

inline constexpr std::array<record::Choice, 3> kBenchPasses{
    {{"full", "forward and backward"}, {"forward", "forward"}, {"backward", "backward"}}};

constexpr record::ParamSpec bench_panel(std::string_view help, std::span<const record::Choice> panels) {
  return experiments::choice("bars_of", "Bars of", help, panels);
}

constexpr record::ParamSpec bench_pass(std::string_view help, std::string_view default_text,
                                       std::span<const record::Choice> passes = kBenchPasses) {
  return experiments::choice("pass", "Pass", help, passes, default_text);
}

// The default timing: the device's with a cold cache if measured, else the host's.
std::string main_timing(const record::Recording& recording);

// Rows in the order of measurement.
std::vector<const Measurement*> rows_of(const record::Recording& recording, std::string_view panel,
                                        std::string_view pass, std::string_view timing);

// Panels with rows of that pass, except the report's, in the catalogue's order.
std::vector<std::string> measured_panels(const record::Recording& recording, std::string_view pass);

// "RMSNorm" for "rms_norm" and "report.rms_norm".
std::string panel_title(std::string_view panel);
// "fused, fp32 dW" for "fused_fp32".
std::string variant_label(std::string_view variant);
SeriesKind kind_of(std::string_view variant);

// "4,096": the dimension that varies within a panel.
std::string shape_label(const Measurement& row);
std::string shape_name(std::string_view panel);
// Units of the rows' largest time, speed and bytes.
struct RowUnits {
  ShownUnit time, rate, memory;
};
RowUnits units_of(std::span<const Measurement* const> rows);

// "RMSNorm, eager, 8,192 × 4,096, bf16: 42.1 µs (41.9 to 42.4), 20 repeats"
std::string row_text(const Measurement& row, const RowUnits& units);
// "42.1 µs (41.9 to 42.4)"
std::string time_with_spread(const Measurement& row, const ShownUnit& unit);
// A single number in its own unit: "42.1 µs", "4.27 TB/s", "12.3 GB/s".
std::string time_text(double nanoseconds);
std::string rate_text(double bytes_per_second);

// Bytes per second of the row's traffic.
double rate_of(const Measurement& row);

// Bytes per second over a link; 0: not measured. On a bus, only transfers with page-locked memory count, which offload
// uses.
double link_rate(const record::Recording& recording, std::string_view variant);
// True for pageable bus transfers, which first go through a driver buffer.
bool through_buffer(const Measurement& row);

// A negative `value` means not measured.
struct Spread {
  double value = -1, low = -1, high = -1;
};
// Median and range in ns; negative for a copy or if no time was measured.
Spread time_of(const Measurement& row);
// One category per shape, one series per variant. Rows with a negative `value` are left out.
Chart chart_by_shape(std::span<const Measurement* const> rows, const RowUnits& units,
                     Spread (*value)(const Measurement& row),
                     std::string (*tip)(const Measurement& row, const RowUnits& units) = &row_text);

// The variant's series, added if missing.
ChartSeries& series_of(Chart& chart, std::string_view variant);

// A bar chart in percent of a copy's bandwidth, with the copy's line at 100 %.
void make_parts_of_copy(Chart& chart, std::vector<std::string> categories, std::string copy_label);

void label_times(Chart& chart);

// Fits the y axis to all points: from 0 or, if logarithmic, over whole decades.
void fit_y(Chart& chart);

// Fills the head. If there is nothing to draw, returns false and sets `empty_reason`.
bool begin_bench(FigureHead& head, const FigureInput& input);

}  // namespace headroom::lessons
