// The share of a copy's bandwidth that each kernel form reaches at the largest measured shape.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "lessons/measurements/bench.h"

namespace headroom::lessons {
namespace {

constexpr std::array kBenchBandwidthSchema{bench_pass("Which pass", "forward")};

// Rows of the shape that moves most bytes; empty if no copy was measured.
std::vector<const Measurement*> largest_shape(const record::Recording& recording, std::string_view panel,
                                              std::string_view pass) {
  std::vector<const Measurement*> rows = rows_of(recording, panel, pass, main_timing(recording));
  record::Bytes most = 0;
  bool copied = false;
  for (const Measurement* row : rows) most = std::max(most, row->bytes);
  std::erase_if(rows, [&](const Measurement* row) { return row->bytes != most || row->median <= 0; });
  for (const Measurement* row : rows) copied = copied || row->variant == "copy";
  return copied ? rows : std::vector<const Measurement*>{};
}

std::vector<const Measurement*> largest_shapes(const record::Recording& recording, const std::string& pass) {
  std::vector<const Measurement*> all;
  for (const std::string& panel : measured_panels(recording, pass)) {
    const auto rows = largest_shape(recording, panel, pass);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

bool is_copy(const Measurement* row) { return row->variant == "copy"; }

void add_bench_bandwidth_panels(FigureData& figure, const FigureInput& input) {
  if (!begin_bench(figure.head, input)) return;
  const auto rows = largest_shapes(input.run->recording(), input.params->text("pass"));
  const RowUnits units = units_of(rows);
  std::map<std::string, const Measurement*> copies;  // by panel
  double bandwidth = 0;
  for (const Measurement* row : rows) {
    if (!is_copy(row)) continue;
    copies.emplace(row->panel, row);
    bandwidth = std::max(bandwidth, rate_of(*row));
  }
  Chart chart;
  std::vector<std::string> panels;
  std::string_view last;
  for (const Measurement* row : rows) {
    if (row->panel != last) panels.push_back(panel_title(row->panel));
    last = row->panel;
    if (is_copy(row)) continue;
    const double copy = copies.at(row->panel)->median, part = 100 * copy / row->median;
    series_of(chart, row->variant)
        .points.push_back({.x = static_cast<double>(panels.size() - 1),
                           .y = part,
                           .low = 100 * copy / std::max(row->high, 1.0),
                           .high = 100 * copy / std::max(row->low, 1.0),
                           .label = fmt::format("{:.0f}", part),
                           .tip = row_text(*row, units) + "; " + amount_text(rate_of(*row), units.rate)});
  }
  if (chart.series.empty()) return figure.leave_empty("This run did not measure a kernel and a copy in this pass.");
  make_parts_of_copy(chart, std::move(panels), "a copy of as many bytes, up to " + amount_text(bandwidth, units.rate));
  figure.add(std::move(chart));
}

}  // namespace

extern const Figure kBenchBandwidth;
constinit const Figure kBenchBandwidth{
    .id = "bench_bandwidth",
    .title = "Bandwidth",
    .caption = "The fraction of a copy's bandwidth that each form of each kernel reaches",
    .schema = kBenchBandwidthSchema,
    .add_panels = add_bench_bandwidth_panels,
};

}  // namespace headroom::lessons
