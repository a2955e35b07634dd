// Memory that a kernel and its composition allocate beyond their inputs, by shape.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "demos/experiments/info/bench_plan.h"
#include "lessons/axes.h"
#include "lessons/measurements/bench.h"

namespace headroom::lessons {
namespace {

// Kernels that allocate memory. Not constexpr: they come from the catalogue.
const std::vector<record::Choice> kMemoryPanels = experiments::kernel_choices(
    /*with_all=*/false, [](const kernels::KernelBench& bench) { return !bench.of_weights; });
constexpr auto kMemoryPasses = std::span(kBenchPasses).first(2);
const std::array kBenchMemorySchema{
    bench_panel("Kernel whose memory is shown", kMemoryPanels),
    bench_pass("Forward and backward together, or the forward pass alone", "full", kMemoryPasses),
};

// The axis reaches this multiple of the fused kernels' memory, to hide the answer.
constexpr double kRoomWhileHidden = 6;

Spread memory_of(const Measurement& row) {
  const auto bytes = static_cast<double>(row.extra_memory);
  return {bytes, bytes, bytes};
}

std::string memory_text(const Measurement& row, const RowUnits& units) {
  return fmt::format("{}, {}, {}, {}: {} on top of its inputs", panel_title(row.panel), variant_label(row.variant),
                     shape_label(row), row.storage, bytes_text(row.extra_memory, units.memory));
}

double highest(const std::vector<const Measurement*>& rows) {
  double most = 0;
  for (const Measurement* row : rows) most = std::max(most, static_cast<double>(row->extra_memory));
  return most;
}

void add_bench_memory_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  if (!begin_bench(figure.head, input)) return;
  const record::Recording& recording = input.run->recording();
  auto rows = rows_of(recording, params.text("bars_of"), params.text("pass"), main_timing(recording));
  auto fused = rows;
  std::erase_if(fused, [](const Measurement* row) { return kind_of(row->variant) != SeriesKind::kFused; });
  if (input.view.hidden) rows = fused;
  // The same axis before and after the answer.
  const double high = std::max(highest(rows), input.view.asked ? kRoomWhileHidden * highest(fused) : 0);
  RowUnits units = units_of(rows);
  units.memory = byte_unit(high);
  Chart chart = chart_by_shape(rows, units, &memory_of, &memory_text);
  if (chart.series.empty())
    return figure.leave_empty("This run did not measure the memory of " + panel_title(params.text("bars_of")) + ".");
  chart.title = panel_title(params.text("bars_of"));
  chart.asked = params.text("bars_of") == "rms_norm" && params.text("pass") == "full";
  chart.bars = true;
  chart.y = {.unit = AxisUnit::kBytes, .high = round_up_bytes(std::max(high, 1.0) * 1.1), .shown = units.memory};
  for (ChartSeries& series : chart.series)
    for (ChartPoint& point : series.points) point.label = in_unit(point.y, units.memory);
  figure.add(std::move(chart));
}

}  // namespace

extern const Figure kBenchMemory;
constinit const Figure kBenchMemory{
    .id = "bench_memory",
    .title = "Memory",
    .caption = "What a fused kernel and its eager composition allocate on top of their inputs",
    .schema = kBenchMemorySchema,
    .add_panels = add_bench_memory_panels,
};

}  // namespace headroom::lessons
