// What a kernel and its composition allocate beside their inputs, shape by shape.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lessons/axes.h"
#include "lessons/bench.h"

namespace headroom::lessons {

extern const Figure kBenchMemory;

namespace {

constexpr auto kPanels = std::span(kBenchPanels).subspan(1, 9);  // each that takes memory
constexpr auto kPasses = std::span(kBenchPasses).first(2);
constexpr std::array kSchema{
    bench_panel("Whose memory is shown", kPanels),
    bench_pass("Forward and backward together, or the forward pass alone", "full", kPasses),
};

// Room over what is seen while the question is open: an axis that does not give the answer away.
constexpr double kRoomWhileHidden = 6;

Spread memory_of(const Measurement& row) {
  const auto bytes = static_cast<double>(row.extra_memory);
  return {bytes, bytes, bytes};
}

// "RMSNorm, eager, 8,192 × 4,096, bf16: 832.00 MiB beside its inputs"
std::string memory_text(const Measurement& row) {
  return fmt::format("{}, {}, {}, {}: {} beside its inputs", panel_title(row.panel), variant_label(row.variant),
                     shape_label(row), row.storage, record::format_bytes(row.extra_memory));
}

double highest(const ChartSeries& series) {
  double high = 0;
  for (const ChartPoint& point : series.points) high = std::max(high, point.y);
  return high;
}

void finish_chart(Chart& chart, const View& view) {
  chart.bars = true;
  chart.y.unit = AxisUnit::kBytes;
  double fused = 0;
  for (const ChartSeries& series : chart.series)
    if (series.kind == SeriesKind::kFused) fused = std::max(fused, highest(series));
  if (view.hidden) std::erase_if(chart.series, [](const auto& series) { return series.kind != SeriesKind::kFused; });
  fit_y(chart);
  if (view.asked) {  // the same axis before and after the answer
    Chart room{.y = {.unit = AxisUnit::kBytes},
               .series = {{.label = {}, .points = {{.x = 0, .y = kRoomWhileHidden * fused}}}}};
    fit_y(room);
    chart.y.high = std::max(chart.y.high, room.y.high);
  }
  const ByteUnit unit = byte_unit(chart.y.high);
  for (ChartSeries& series : chart.series)
    for (ChartPoint& point : series.points) {
      const double shown = point.y / unit.bytes;
      point.label = in_unit(point.y, unit, shown < 1 ? 2 : shown < 100 ? 1 : 0);
    }
}

void add_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  if (!begin_bench(figure.head, input)) return;
  const record::Recording& recording = input.run->recording();
  const auto rows = rows_of(recording, params.text("panel"), params.text("pass"), main_timing(recording));
  Chart chart = chart_by_shape(rows, &memory_of, &memory_text);
  if (chart.series.empty()) {
    figure.head.empty_reason = "This run did not measure the memory of " + panel_title(params.text("panel")) + ".";
    return;
  }
  chart.title = panel_title(params.text("panel"));
  chart.asked = params.text("panel") == "rms_norm" && params.text("pass") == "full";
  finish_chart(chart, input.view);
  figure.panels.emplace_back(std::move(chart));
}

}  // namespace

constinit const Figure kBenchMemory{
    .id = "bench_memory",
    .title = "Memory",
    .caption = "What a fused kernel and its eager composition allocate beside their inputs",
    .schema = kSchema,
    .add_panels = add_panels,
};

}  // namespace headroom::lessons
