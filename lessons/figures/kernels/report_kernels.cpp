// Time and peak memory of the report's six panels, measured here and drawn over published A100 points.
#include <algorithm>
#include <array>
#include <tuple>

#include <fmt/format.h>

#include "kernels/kernel.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/tables.h"
#include "lessons/params.h"

namespace headroom::lessons {
namespace {

constexpr std::array<record::Choice, 2> kShownChoices{{{"on", "shown"}, {"off", "hidden"}}};
constexpr std::array<record::Choice, 2> kAs{{{"amount", "as measured"}, {"ratio", "eager over fused"}}};
constexpr std::array kReportKernelsSchema{
    experiments::choice("as", "Show", "Time or memory of each form, or the ratio eager ÷ fused", kAs, "amount"),
    switch_param("published", "Published points", "Points that the Liger paper measured on an A100 with these shapes",
                 kShownChoices, true),
};

kernels::Shape shape_of(const Measurement& row) { return {.rows = row.rows, .width = row.width, .vocab = row.vocab}; }

// Bytes of inputs, weights and upstream gradients, which the published peaks include.
record::Bytes inputs_of(const Measurement& row) {
  const kernels::KernelInfo* kernel = kernels::find_kernel(row.kernel);
  if (kernel == nullptr || kernel->report.inputs == nullptr) return 0;
  return kernel->report.inputs(shape_of(row)) * (row.storage == "fp32" ? 4 : 2);
}

Spread peak_of_row(const Measurement& row) {
  if (row.extra_memory < 0) return {};
  const auto bytes = static_cast<double>(row.extra_memory + inputs_of(row));
  return {bytes, bytes, bytes};
}

std::string peak_text(const Measurement& row, const RowUnits& units) {
  return fmt::format("{}, {}, {}, {}: {} with its inputs", panel_title(row.panel), variant_label(row.variant),
                     shape_label(row), row.storage, bytes_text(row.extra_memory + inputs_of(row), units.memory));
}

std::vector<const Measurement*> rows_of_panel(const record::Recording& recording, std::string_view kernel) {
  return rows_of(recording, "report." + std::string(kernel), "full", main_timing(recording));
}

// One unit for all six panels and the published points.
RowUnits units_of_all(const record::Recording& recording, bool published) {
  double time = 0, memory = 0;
  for (const kernels::KernelInfo* kernel : kernels::report_kernels())
    for (const Measurement* row : rows_of_panel(recording, kernel->id)) {
      time = std::max(time, time_of(*row).value);
      memory = std::max(memory, peak_of_row(*row).value);
    }
  for (const PublishedKernel& point : published_kernels()) {
    if (!published) continue;
    time = std::max(time, point.milliseconds * 1e6);
    memory = std::max(memory, static_cast<double>(point.peak));
  }
  return {.time = time_unit(time), .rate = {}, .memory = byte_unit(memory)};
}

// The published shapes are a GPU's; on a CPU, cross entropy and LayerNorm have fewer rows.
bool comparable(const std::vector<const Measurement*>& rows, const kernels::ReportPanel& panel) {
  if (rows.empty()) return true;
  const kernels::MeasuredShape published = panel.shapes({.gpu = true}).front();
  return rows.front()->rows == published.shape.rows && rows.front()->storage == published.storage;
}

void add_published(Chart& chart, std::string_view panel, const RowUnits& units, bool memory) {
  for (const auto& [implementation, label, kind] :
       {std::tuple{"huggingface", "Hugging Face, A100, published", SeriesKind::kEager},
        std::tuple{"liger", "Liger, A100, published", SeriesKind::kFused}}) {
    ChartSeries series{.label = label, .kind = kind, .published = true};
    for (const PublishedKernel& point : published_kernels()) {
      if (point.panel != panel || point.implementation != implementation) continue;
      const std::string name = record::format_count(point.x);
      auto place = std::ranges::find(chart.categories, name);
      if (place == chart.categories.end()) place = chart.categories.insert(place, name);
      const double y = memory ? static_cast<double>(point.peak) : point.milliseconds * 1e6;
      series.points.push_back(
          exact_point(static_cast<double>(place - chart.categories.begin()), y,
                      fmt::format("{}, {} at {}: {}", panel_title(panel), label, name,
                                  memory ? bytes_text(point.peak, units.memory) : amount_text(y, units.time))));
    }
    chart.series.push_back(std::move(series));
  }
}

// Eager divided by fused, by shape, both published or both measured.
ChartSeries ratios(const ChartSeries& eager, const ChartSeries& fused) {
  ChartSeries series{.label = fused.published ? "Hugging Face ÷ Liger, A100, published" : "eager ÷ fused",
                     .kind = SeriesKind::kFused,
                     .published = fused.published};
  for (const ChartPoint& upper : eager.points)
    for (const ChartPoint& lower : fused.points) {
      if (upper.x != lower.x || !(lower.y > 0)) continue;
      const double ratio = upper.y / lower.y;
      series.points.push_back({.x = upper.x,
                               .y = ratio,
                               .low = upper.low / lower.high,
                               .high = upper.high / std::max(lower.low, 1.0),
                               .label = fmt::format("{:.{}f}×", ratio, ratio < 2 ? 2 : 1),
                               .tip = fmt::format("{}: {:.2f}×", series.label, ratio)});
    }
  return series;
}

void make_ratios(Chart& chart) {
  std::vector<ChartSeries> made;
  for (const ChartSeries& eager : chart.series)
    for (const ChartSeries& fused : chart.series)
      if (eager.kind == SeriesKind::kEager && fused.kind == SeriesKind::kFused && eager.published == fused.published)
        made.push_back(ratios(eager, fused));
  chart.series = std::move(made);
  chart.y = {.unit = AxisUnit::kNumber, .name = "times"};
}

// Leaves the eager forms, because the question is about the fused ones.
void hide_kernels(Chart& chart) {
  std::erase_if(chart.series, [](const ChartSeries& series) { return series.kind != SeriesKind::kEager; });
}

void add_report_kernels_panels(FigureData& figure, const FigureInput& input, bool memory) {
  const record::Params& params = *input.params;
  if (!begin_bench(figure.head, input)) return;
  const bool as_ratio = params.text("as") == "ratio" && !input.view.hidden;
  const record::Recording& recording = input.run->recording();
  const RowUnits units = units_of_all(recording, params.on("published"));
  bool any = false;
  for (const kernels::KernelInfo* kernel : kernels::report_kernels()) {
    const kernels::ReportPanel& panel = kernel->report;
    const auto rows = rows_of_panel(recording, kernel->id);
    any = any || !rows.empty();
    Chart chart = chart_by_shape(rows, units, memory ? &peak_of_row : &time_of, memory ? &peak_text : &row_text);
    chart.categories.clear();
    for (const Measurement* row : rows) {
      std::string name = record::format_count(panel.x(shape_of(*row)));
      if (chart.categories.empty() || chart.categories.back() != name) chart.categories.push_back(std::move(name));
    }
    if (params.on("published") && comparable(rows, panel)) add_published(chart, kernel->id, units, memory);
    if (input.view.hidden) hide_kernels(chart);
    if (chart.series.empty()) continue;
    chart.title = std::string(kernel->title) + (panel.what.empty() ? "" : ", " + std::string(panel.what));
    chart.x = category_axis(chart.categories.size(), std::string(panel.axis));
    chart.y = {.unit = memory ? AxisUnit::kBytes : AxisUnit::kNanoseconds, .shown = memory ? units.memory : units.time};
    if (as_ratio) make_ratios(chart);
    fit_y(chart);
    figure.add(std::move(chart));
  }
  if (!any) return figure.leave_empty("This run did not measure the report's panels: run it with Panels set to them.");
}

void add_times(FigureData& figure, const FigureInput& input) { add_report_kernels_panels(figure, input, false); }
void add_memory(FigureData& figure, const FigureInput& input) { add_report_kernels_panels(figure, input, true); }

}  // namespace

extern const Figure kReportTimes;
constinit const Figure kReportTimes{
    .id = "report_times",
    .title = "Report: time",
    .caption = "Six kernels, forward and backward, with the points that the Liger paper published",
    .schema = kReportKernelsSchema,
    .add_panels = add_times,
};

extern const Figure kReportMemory;
constinit const Figure kReportMemory{
    .id = "report_memory",
    .title = "Report: memory",
    .caption = "Peak memory of six kernels, inputs included, with the points that the Liger paper published",
    .schema = kReportKernelsSchema,
    .add_panels = add_memory,
};

}  // namespace headroom::lessons
