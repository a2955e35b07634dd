// Times of each kernel form by shape, with quantiles.
#include <array>
#include <vector>

#include "demos/experiments/info/bench_plan.h"
#include "lessons/measurements/bench.h"
#include "lessons/params.h"

namespace headroom::lessons {
namespace {

constexpr std::array<record::Choice, 3> kTimings{
    {{"device", "device, cold cache"}, {"graph", "graph replay"}, {"wall", "the host's clock"}}};
// Not constexpr: kernels come from the catalogue.
const std::vector<record::Choice> kTimePanels = experiments::kernel_choices(/*with_all=*/true);
const std::array kBenchTimesSchema{
    bench_panel("Kernel whose times are shown", kTimePanels),
    bench_pass("Which pass to show; a kernel with only one pass shows that one", "full"),
    experiments::choice("timing", "Clock",
                        "Device time with a cold cache, graph replay, or the host's clock (the only one for a CPU)",
                        kTimings, "device"),
};

// Rows of the pass; without rows of the full pass, those of the forward or else the backward pass.
std::vector<const Measurement*> rows_for(const record::Recording& recording, std::string_view panel,
                                         std::string_view pass, std::string_view timing) {
  auto rows = rows_of(recording, panel, pass, timing);
  for (const char* other : {"forward", "backward"})
    if (rows.empty() && pass == "full") rows = rows_of(recording, panel, other, timing);
  return rows;
}

std::string title_of(std::string_view panel, std::string_view pass, const Measurement& row) {
  std::string title = panel_title(panel);
  if (row.pass != pass || pass != "full") title += ", " + row.pass;
  return title;
}

void add_bench_times_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  if (!begin_bench(figure.head, input)) return;
  const record::Recording& recording = input.run->recording();
  const std::string& pass = params.text("pass");
  const std::string timing = params.text("timing") == "device" ? main_timing(recording) : params.text("timing");
  std::vector<std::string> panels{params.text("bars_of")};
  if (panels.front() == "all") {
    panels.clear();
    for (const record::Choice& choice : kTimePanels) panels.emplace_back(choice.key);
  }
  std::vector<const Measurement*> all;
  for (const std::string& panel : panels)
    for (const Measurement* row : rows_for(recording, panel, pass, timing)) all.push_back(row);
  const RowUnits units = units_of(all);
  for (const std::string& panel : panels) {
    const auto rows = rows_for(recording, panel, pass, timing);
    Chart chart = chart_by_shape(rows, units, &time_of);
    if (chart.series.empty()) continue;
    chart.bars = true;
    chart.title = title_of(panel, pass, *rows.front());
    chart.y = {.unit = AxisUnit::kNanoseconds, .shown = units.time};
    if (panels.size() == 1) label_times(chart);
    fit_y(chart);
    figure.add(std::move(chart));
  }
  if (figure.panels.empty())
    figure.head.empty_reason = "This run has no such times: try another pass, clock or kernel.";
}

}  // namespace

extern const Figure kBenchTimes;
constinit const Figure kBenchTimes{
    .id = "bench_times",
    .title = "Time",
    .caption = "Time of eager, fused and library forms of each kernel, with quantiles",
    .schema = kBenchTimesSchema,
    .add_panels = add_bench_times_panels,
};

}  // namespace headroom::lessons
