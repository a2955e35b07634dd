// What the figures of a benchmark have in common: which rows they show, and the words for them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/figure.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {

using record::Measurement;

inline constexpr std::array<record::Choice, 3> kBenchPasses{
    {{"full", "forward and backward"}, {"forward", "forward"}, {"backward", "backward"}}};

constexpr record::ParamSpec bench_panel(std::string_view help, std::span<const record::Choice> panels) {
  return {.key = "panel",
          .label = "Kernel",
          .help = help,
          .kind = record::ParamKind::kChoice,
          .default_text = panels.front().key,
          .choices = panels};
}

constexpr record::ParamSpec bench_pass(std::string_view help, std::string_view default_text,
                                       std::span<const record::Choice> passes = kBenchPasses) {
  return {.key = "pass",
          .label = "Pass",
          .help = help,
          .kind = record::ParamKind::kChoice,
          .default_text = default_text,
          .choices = passes};
}

// The device time with a cold cache where it was measured, else the host's: what a figure shows unless asked otherwise.
std::string main_timing(const record::Recording& recording);

// The rows of a panel, in the order in which they were measured.
std::vector<const Measurement*> rows_of(const record::Recording& recording, std::string_view panel,
                                        std::string_view pass, std::string_view timing);

// Panels with rows of that pass, in the order of the catalogue of kernels; the report's are left out.
std::vector<std::string> measured_panels(const record::Recording& recording, std::string_view pass);

// "RMSNorm" for "rms_norm" and for "report.rms_norm".
std::string panel_title(std::string_view panel);
// "fused, fp32 dW" for "fused_fp32".
std::string variant_label(std::string_view variant);
SeriesKind kind_of(std::string_view variant);

// "4,096": what changes from shape to shape within a panel; and what it is called.
std::string shape_label(const Measurement& row);
std::string shape_name(std::string_view panel);
// Times, speeds and bytes of rows in the units of the largest of them.
struct RowUnits {
  ShownUnit time, rate, memory;
};
RowUnits units_of(std::span<const Measurement* const> rows);

// "RMSNorm, eager, 8,192 × 4,096, bf16: 42.1 µs (41.9 to 42.4), 20 repeats"
std::string row_text(const Measurement& row, const RowUnits& units);
// "42.1 µs (41.9 to 42.4)"
std::string time_with_spread(const Measurement& row, const ShownUnit& unit);
// Of a number that is alone, in its own unit: "42.1 µs"; "4.27 TB/s", "12.3 GB/s".
std::string time_text(double nanoseconds);
std::string rate_text(double bytes_per_second);

// Bytes per second that the row's traffic moved at.
double rate_of(const Measurement& row);

// Bytes per second of a link of the machine, from page-locked memory where it crosses a bus, which is what offload uses;
// 0: not measured.
double link_rate(const record::Recording& recording, std::string_view variant);
// A pageable transfer over the bus goes through a buffer of the driver first.
bool through_buffer(const Measurement& row);

// One place on the x axis for every shape of `rows`, in order, and one series a variant. `value` gives y with its
// quantiles; a row for which it has no number (a negative one) is left out. The numbers of points are in `units`.
struct Spread {
  double value = -1, low = -1, high = -1;
};
// Median and range in ns; nothing for a copy, or where no time was measured.
Spread time_of(const Measurement& row);
Chart chart_by_shape(std::span<const Measurement* const> rows, const RowUnits& units,
                     Spread (*value)(const Measurement& row),
                     std::string (*tip)(const Measurement& row, const RowUnits& units) = &row_text);

// The series of this variant, made where the chart has none yet.
ChartSeries& series_of(Chart& chart, std::string_view variant);

// A chart over these places whose y is a part of a copy's bandwidth in per cent, with the copy's line at 100 %.
void make_parts_of_copy(Chart& chart, std::vector<std::string> categories, std::string copy_label);

// Writes each point's time over it, where there is room, in the axis's unit.
void label_times(Chart& chart);

// Ends the y axis above all points: from 0, or over whole decades.
void fit_y(Chart& chart);

// What a figure of a benchmark adds to its head. False: there is nothing to draw, and `empty_reason` says why.
bool begin_bench(FigureHead& head, const FigureInput& input);

}  // namespace headroom::lessons
