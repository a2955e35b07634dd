// Up to four stored steps as small memory timelines on shared axes. Their names are hidden until the question is
// answered.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/technique_table.h"
#include "demos/record/phase_map.h"
#include "lessons/axes.h"
#include "lessons/figure.h"
#include "lessons/names.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::Category;
using record::TimeMap;

constexpr std::size_t kMost = 4;
constexpr std::array<record::Choice, 2> kGridAxes{{{"phase", "phases aligned"}, {"device", "device time"}}};
constexpr std::array kTimelineGridSchema{
    experiments::choice("time", "Time axis",
                        "The phases of all steps stretched onto those of A, or each step in its own time", kGridAxes,
                        "phase"),
};

// The last whole step of a run.
struct StepShot {
  const record::Ledger* run = nullptr;
  record::StepRange range;
  TimeMap map;
  std::vector<record::PhaseSpan> spans;

  StepShot(const record::Ledger& ledger, const record::StepRange& step)
      : run(&ledger),
        range(step),
        map(ledger.recording(), record::TimeAxis::kDevice, step.first, step.last),
        spans(record::phase_spans(ledger.recording(), map, step, true)) {}

  record::Peak peak() const { return run->peak(map.first(), map.last()); }
};

// The page's other runs, or the shown run alone.
std::vector<StepShot> shots_of(const FigureInput& input) {
  std::vector<StepShot> shots;
  const auto add = [&](const record::Ledger& ledger) {
    const auto step = record::last_whole_step(ledger.recording());
    if (step && step->first < step->last && shots.size() < kMost) shots.emplace_back(ledger, *step);
  };
  for (const record::Ledger* each : input.beside) add(*each);
  if (shots.empty()) add(*input.run);
  return shots;
}

std::string name_of(const record::RunInfo& info) {
  const record::Schema schema = experiments::training_step().schema;
  const record::Params params = record::Params::known_of(schema, info.params), defaults(schema);
  std::string name = "batch " + params.as_text("batch");
  for (const experiments::Technique* each : experiments::ladder_techniques())
    if (experiments::is_on(*each, params) && !experiments::is_on(*each, defaults)) name += ", " + each->label;
  return name;
}

std::string letter(std::size_t place) { return std::string(1, static_cast<char>('A' + place)); }

bool has(const StepShot& shot, Category category, int columns) {
  const auto kind = static_cast<std::size_t>(category);
  return std::ranges::any_of(record::reduce(*shot.run, shot.map, 0, shot.map.end(), columns),
                             [=](const record::Column& column) { return column.high.by_category[kind] > 0; });
}

// Kinds in stack order, from the bottom.
std::vector<Category> kinds_of(const std::vector<StepShot>& shots, int columns) {
  std::vector<Category> kinds;
  for (int kind = 0; kind < record::kNumCategories; ++kind)
    if (const auto category = static_cast<Category>(kind);
        std::ranges::any_of(shots, [&](const StepShot& shot) { return has(shot, category, columns); }))
      kinds.push_back(category);
  return kinds;
}

std::string_view phase_at(const std::vector<record::PhaseSpan>& spans, double position) {
  for (const record::PhaseSpan& span : spans)
    if (position >= span.begin && position < span.end) return record::label_of(span.phase);
  return "end of the step";
}

// Shared by all panels.
struct TimelineCells {
  std::vector<Category> kinds;
  ShownUnit unit;
  Axis x, y;
  int columns = 0;
  bool aligned = true;
};

TimelineCells grid_of(const std::vector<StepShot>& shots, const FigureInput& input) {
  TimelineCells grid;
  grid.columns = std::clamp(input.view.columns / 3, 60, 400);
  grid.aligned = input.params->text("time") == "phase";
  grid.kinds = kinds_of(shots, grid.columns);
  double most = 0, longest = 0;
  for (const StepShot& shot : shots) {
    most = std::max(most, static_cast<double>(shot.peak().totals.allocated));
    longest = std::max(longest, shot.map.end());
  }
  grid.unit = byte_unit(most);
  grid.x = {.unit = AxisUnit::kNanoseconds, .high = grid.aligned ? shots.front().map.end() : longest};
  grid.x.shown = time_unit(grid.x.high);
  grid.x.name = std::string(grid.x.shown->name);
  if (grid.aligned && shots.size() > 1) grid.x.name += ", phases as in A";
  grid.y = {.unit = AxisUnit::kBytes, .high = round_up_bytes(1.2 * most), .shown = grid.unit};
  return grid;
}

ChartPoint point_of(const record::Column& column, Category kind, double x, std::string tip) {
  const auto bytes = static_cast<double>(column.high.by_category[static_cast<std::size_t>(kind)]);
  return exact_point(x, bytes, std::move(tip));
}

Chart chart_of(const StepShot& shot, const StepShot& first, const TimelineCells& grid, std::string title) {
  Chart chart{.title = std::move(title), .x = grid.x, .y = grid.y, .stacked = true};
  const record::PhaseMap onto(shot.spans, shot.map.end(), first.spans, first.map.end());
  const auto place = [&](double own) { return grid.aligned ? onto(own) : own; };
  for (const Category kind : grid.kinds)
    chart.series.push_back({.label = capitalised(record::label_of(kind)), .category = kind});
  const auto columns = record::reduce(*shot.run, shot.map, 0, shot.map.end(), grid.columns);
  for (const record::Column& column : columns) {
    const double middle = (column.begin + column.end) / 2;
    const std::string tip =
        fmt::format("{}: {}", phase_at(shot.spans, middle), bytes_text(column.high.allocated, grid.unit));
    for (std::size_t i = 0; i < grid.kinds.size(); ++i) {  // constant over the column
      chart.series[i].points.push_back(point_of(column, grid.kinds[i], place(column.begin), tip));
      chart.series[i].points.push_back(point_of(column, grid.kinds[i], place(column.end), {}));
    }
  }
  for (const record::PhaseSpan& span : grid.aligned ? first.spans : shot.spans)
    if (span.phase != record::Phase::kRecompute)
      chart.spans.push_back(
          {std::string(record::label_of(span.phase)), span.begin, span.end, static_cast<int>(chart.spans.size() % 4)});
  chart.add_level({}, static_cast<double>(shot.peak().totals.allocated));  // its number is in the title
  return chart;
}

void add_timeline_grid_panels(FigureData& figure, const FigureInput& input) {
  const std::vector<StepShot> shots = shots_of(input);
  if (shots.empty()) return figure.leave_empty("No complete step was recorded.");
  const TimelineCells grid = grid_of(shots, input);
  for (std::size_t i = 0; i < shots.size(); ++i) {
    const record::RunInfo& info = shots[i].run->recording().info();
    const std::string peak = letter(i) + ", peak " + bytes_text(shots[i].peak().totals.allocated, grid.unit);
    const std::string name = input.view.hidden ? "" : ": " + name_of(info);
    figure.add(chart_of(shots[i], shots.front(), grid, peak + name));
    if (!input.view.hidden) figure.head.provenance["step." + letter(i)] = provenance_line(info);
  }
}

}  // namespace

extern const Figure kTimelineGrid;
constinit const Figure kTimelineGrid{
    .id = "timeline_grid",
    .title = "Four steps",
    .caption = "Memory over one step of four runs on shared axes, stacked by kind, with phases and peaks",
    .schema = kTimelineGridSchema,
    .add_panels = add_timeline_grid_panels,
};

}  // namespace headroom::lessons
