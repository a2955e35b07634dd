// The roofline: operations per second against operations per byte, under the copy's slope and the GEMM ceiling.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "lessons/measurements/bench.h"

namespace headroom::lessons {
namespace {

constexpr std::array kBenchRooflineSchema{
    bench_pass("Which pass to show; a kernel with only one pass shows that one", "full")};

struct Roofs {
  double bytes_per_second = 0;  // of the large copy
  double flops_per_second = 0;  // of GEMMs; 0: none measured
};

Roofs roofs_of(const record::Recording& recording) {
  Roofs roofs;
  for (const Measurement& row : recording.measurements()) {
    if (row.median <= 0) continue;
    if (row.panel == record::Measurement::kCopy) roofs.bytes_per_second = rate_of(row);
    if (row.variant == "matmul")
      roofs.flops_per_second = std::max(roofs.flops_per_second, row.flops / row.median * 1e9);
  }
  return roofs;
}

// Rows of each kernel's largest shape. Its forms share one intensity, that of the least bytes to move.
std::vector<const Measurement*> drawn_rows(const record::Recording& recording, const std::string& pass) {
  std::vector<std::string> panels = measured_panels(recording, pass);
  if (pass == "full") {
    for (const char* other : {"forward", "backward"})
      for (std::string& panel : measured_panels(recording, other))
        if (std::ranges::find(panels, panel) == panels.end()) panels.push_back(std::move(panel));
  }
  std::vector<const Measurement*> drawn;
  for (const std::string& panel : panels) {
    auto rows = rows_of(recording, panel, pass, main_timing(recording));
    for (const char* other : {"forward", "backward"})
      if (rows.empty()) rows = rows_of(recording, panel, other, main_timing(recording));
    record::Bytes most = 0;
    for (const Measurement* row : rows) most = std::max(most, row->bytes);
    for (const Measurement* row : rows) {
      const bool form = row->variant == "fused" || row->variant == "eager" || row->variant == "library";
      if (row->bytes == most && row->flops > 0 && row->median > 0 && most > 0 && form) drawn.push_back(row);
    }
  }
  return drawn;
}

void add_points(Chart& chart, const std::vector<const Measurement*>& rows) {
  const RowUnits units = units_of(rows);
  for (const Measurement* row : rows) {
    const double y = row->flops / row->median * 1e9, x = row->flops / static_cast<double>(row->bytes);
    series_of(chart, row->variant)
        .points.push_back(exact_point(x, y, fmt::format("{}; {:.2f} FLOP/B", row_text(*row, units), x),
                                      row->variant == "fused" ? panel_title(row->panel) : std::string()));
  }
}

void add_roofs(Chart& chart, const Roofs& roofs) {
  const double low = chart.x.low, high = chart.x.high;
  const double ridge = roofs.flops_per_second > 0 ? roofs.flops_per_second / roofs.bytes_per_second : high;
  const double end = std::clamp(ridge, low, high);
  chart.references.push_back(
      {.label = roofs.flops_per_second > 0 ? std::string() : fmt::format("copy, {}", rate_text(roofs.bytes_per_second)),
       .x = {low, end},
       .y = {low * roofs.bytes_per_second, end * roofs.bytes_per_second}});
  if (roofs.flops_per_second <= 0 || ridge >= high) return;
  chart.y.shown = unit_for(AxisUnit::kFlopsPerSecond, roofs.flops_per_second);
  chart.references.push_back({.label = fmt::format("copy {}, products {}", rate_text(roofs.bytes_per_second),
                                                   amount_text(roofs.flops_per_second, *chart.y.shown)),
                              .x = {ridge, high},
                              .y = {roofs.flops_per_second, roofs.flops_per_second}});
}

void add_bench_roofline_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  if (!begin_bench(figure.head, input)) return;
  const record::Recording& recording = input.run->recording();
  Chart chart;
  add_points(chart, drawn_rows(recording, params.text("pass")));
  const Roofs roofs = roofs_of(recording);
  if (chart.series.empty() || roofs.bytes_per_second <= 0)
    return figure.leave_empty("This run has no kernel with known traffic, or no copy to compare it with.");
  const auto [low, high] = range_of(chart.series, &ChartPoint::x);
  chart.joined = false;
  chart.x = {.unit = AxisUnit::kFlopsPerByte,
             .low = std::pow(10, std::floor(std::log10(low / 1.5))),
             .high = std::pow(10, std::ceil(std::log10(high * 3))),
             .logarithmic = true,
             .name = "arithmetic operations per byte that must move"};
  chart.y = {.unit = AxisUnit::kFlopsPerSecond, .logarithmic = true};
  add_roofs(chart, roofs);
  fit_y(chart);
  figure.add(std::move(chart));
}

}  // namespace

extern const Figure kBenchRoofline;
constinit const Figure kBenchRoofline{
    .id = "bench_roofline",
    .title = "Roofline",
    .caption = "Operations per second over operations per byte, below this device's limits",
    .schema = kBenchRooflineSchema,
    .add_panels = add_bench_roofline_panels,
};

}  // namespace headroom::lessons
