// What a kernel and its composition allocate beside their inputs, shape by shape.
#include <algorithm>
#include <array>

#include "lessons/bench.h"

namespace headroom::lessons {

extern const Figure kBenchMemory;

namespace {

constexpr std::array<record::Choice, 9> kPanels{{
    {"rms_norm", "RMSNorm"},
    {"add_rms_norm", "Addition and RMSNorm"},
    {"layer_norm", "LayerNorm"},
    {"rope", "RoPE"},
    {"swiglu", "SwiGLU"},
    {"geglu", "GeGLU"},
    {"cross_entropy", "Cross entropy"},
    {"fused_linear_cross_entropy", "Fused linear cross entropy"},
    {"embedding_backward", "Embedding gradient"},
}};
constexpr std::array<record::Choice, 2> kPasses{{{"full", "forward and backward"}, {"forward", "forward"}}};
constexpr std::array kSchema{
    record::ParamSpec{.key = "panel",
                      .label = "Kernel",
                      .help = "Whose memory is shown",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "rms_norm",
                      .choices = kPanels},
    record::ParamSpec{.key = "pass",
                      .label = "Pass",
                      .help = "Forward and backward together, or the forward pass alone",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "full",
                      .choices = kPasses},
};

// Room over what is seen while the question is open: an axis that does not tell the answer.
constexpr double kRoomUnderVeil = 6;

Spread memory_of(const Measurement& row) {
  const auto bytes = static_cast<double>(row.extra_memory);
  return {bytes, bytes, bytes};
}

double highest(const ChartSeries& series) {
  double high = 0;
  for (const ChartPoint& point : series.points) high = std::max(high, point.y);
  return high;
}

void add_chart(FigureData& figure, Chart chart, const View& view) {
  chart.bars = true;
  chart.y.unit = AxisUnit::kBytes;
  double fused = 0;
  for (const ChartSeries& series : chart.series)
    if (series.kind == SeriesKind::kFused) fused = std::max(fused, highest(series));
  if (view.veiled) std::erase_if(chart.series, [](const auto& series) { return series.kind != SeriesKind::kFused; });
  for (ChartSeries& series : chart.series)
    for (ChartPoint& point : series.points)
      point.label = record::format_bytes(static_cast<record::Bytes>(point.y), point.y >= record::kGiB ? 1 : 0);
  fit_y(chart);
  if (view.asked) {  // the same axis before and after the answer
    Chart room{.y = {.unit = AxisUnit::kBytes},
               .series = {{.label = {}, .points = {{.x = 0, .y = kRoomUnderVeil * fused}}}}};
    fit_y(room);
    chart.y.high = std::max(chart.y.high, room.y.high);
  }
  figure.x = chart.x;
  figure.y = chart.y;
  figure.charts.push_back(std::move(chart));
}

FigureData build(const FigureInput& input) {
  FigureData figure;
  figure.id = kBenchMemory.id;
  figure.title = kBenchMemory.title;
  const record::Params defaults(kSchema);
  const record::Params& params = input.params ? *input.params : defaults;
  if (!begin_bench(figure, input, params)) return figure;
  const record::Recording& recording = input.run->recording();
  const auto rows = rows_of(recording, params.text("panel"), params.text("pass"), main_timing(recording));
  Chart chart = chart_by_shape(rows, &memory_of);
  if (chart.series.empty()) {
    figure.empty_reason = "This run did not measure the memory of " + panel_title(params.text("panel")) + ".";
    return figure;
  }
  chart.title = panel_title(params.text("panel"));
  add_chart(figure, std::move(chart), input.view);
  figure.guess = input.view.guess;
  figure.guess_locked = input.view.guess_locked;
  return figure;
}

}  // namespace

constinit const Figure kBenchMemory{
    .id = "bench_memory",
    .title = "Memory",
    .caption = "What a fused kernel and its eager composition allocate beside their inputs",
    .schema = kSchema,
    .build = build,
};

}  // namespace headroom::lessons
