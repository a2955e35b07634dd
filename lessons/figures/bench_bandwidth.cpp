// What part of a copy's bandwidth each form of each kernel reaches, at the largest shape that was measured.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lessons/bench.h"

namespace headroom::lessons {

extern const Figure kBenchBandwidth;

namespace {

constexpr std::array kSchema{bench_pass("Which pass", "forward")};

// The rows of the panel's shape that moves most, copy included; empty without a copy.
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

void add_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  if (!begin_bench(figure.head, input)) return;
  const record::Recording& recording = input.run->recording();
  Chart chart;
  std::vector<std::string> panels;
  double bandwidth = 0;
  for (const std::string& panel : measured_panels(recording, params.text("pass"))) {
    const auto rows = largest_shape(recording, panel, params.text("pass"));
    if (rows.empty()) continue;
    const Measurement& copy = **std::find_if(rows.begin(), rows.end(), [](auto* r) { return r->variant == "copy"; });
    const double x = static_cast<double>(panels.size());
    panels.push_back(panel_title(panel));
    for (const Measurement* row : rows) {
      if (row->variant == "copy") {
        bandwidth = std::max(bandwidth, static_cast<double>(row->bytes) / row->median);
        continue;
      }
      const double part = 100 * copy.median / row->median;
      series_of(chart, row->variant)
          .points.push_back({.x = x,
                             .y = part,
                             .low = 100 * copy.median / std::max(row->high, 1.0),
                             .high = 100 * copy.median / std::max(row->low, 1.0),
                             .label = fmt::format("{:.0f}", part),
                             .tip = fmt::format("{}; {}", row_text(*row),
                                                rate_text(static_cast<double>(row->bytes) / row->median * 1e9))});
    }
  }
  if (chart.series.empty()) {
    figure.head.empty_reason = "This run measured no kernel beside a copy in this pass.";
    return;
  }
  make_parts_of_copy(chart, std::move(panels),
                     fmt::format("a copy of as many bytes, up to {}", rate_text(bandwidth * 1e9)));
  figure.panels.emplace_back(std::move(chart));
}

}  // namespace

constinit const Figure kBenchBandwidth{
    .id = "bench_bandwidth",
    .title = "Bandwidth",
    .caption = "The part of a copy's bandwidth that each form of each kernel reaches",
    .schema = kSchema,
    .add_panels = add_panels,
};

}  // namespace headroom::lessons
