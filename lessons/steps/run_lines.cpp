// Lines of totals.
#include "lessons/steps/run_lines.h"

#include <algorithm>
#include <cmath>

#include "demos/predict/time/bound_times.h"
#include "lessons/wording.h"

namespace headroom::lessons {

using record::Column;
using record::TimeMap;

bool is_predicted(const record::Recording& run) {
  return run.info().source == record::Source::kPredicted || run.info().source == record::Source::kFormula;
}

record::TimeAxis axis_of(const record::Params& figure, const record::Recording& run) {
  const std::string& axis = figure.text("axis");
  if (axis == "phase" && is_predicted(run))
    return run.info().provenance.contains(std::string(predict::kBoundFact)) ? record::TimeAxis::kHost
                                                                            : record::TimeAxis::kEvent;
  return axis == "host"    ? record::TimeAxis::kHost
         : axis == "event" ? record::TimeAxis::kEvent
                           : record::TimeAxis::kDevice;
}

bool aligned(const record::Params& figure) { return figure.text("axis") == "phase"; }

std::vector<Column> columns_of(const record::Ledger& run, const TimeMap& map, const Axis& x, double data_end,
                               int columns) {
  const double begin = std::max(x.low, 0.0);
  const double end = std::min(x.high, data_end);
  if (!(end > begin)) return {};
  const double share = (end - begin) / (x.high - x.low);
  return record::reduce(run, map, begin, end, std::max(1, static_cast<int>(std::lround(columns * share))));
}

std::array<bool, record::kNumCategories> quiet_kinds(const std::vector<Column>& columns) {
  std::array<bool, record::kNumCategories> quiet{};
  for (const record::Category category : {record::Category::kWeights, record::Category::kOptimizerState}) {
    const auto k = static_cast<std::size_t>(category);
    quiet[k] = std::ranges::all_of(columns, [&](const Column& column) {
      const record::Bytes first = columns.front().high.by_category[k];
      return first > 0 && column.high.by_category[k] == first && column.low.by_category[k] == first;
    });
  }
  return quiet;
}

int tone_of(record::Phase phase) {
  if (phase == record::Phase::kLoss || phase == record::Phase::kRecompute) return 1;
  return phase == record::Phase::kBackward ? 2 : phase == record::Phase::kOptimizer ? 3 : 0;
}

double high_total(const Column& column) { return static_cast<double>(column.high.allocated); }

// "RTX 4090", "H200"
std::string short_card(std::string card) {
  constexpr std::string_view kMaker = "GeForce ";
  if (card.starts_with(kMaker)) card.erase(0, kMaker.size());
  for (const std::string_view form : {" SXM", " PCIe"})
    if (card.ends_with(form)) card.resize(card.size() - form.size());
  return card;
}

std::string axis_name(const Timeline& panel, const record::Recording& run) {
  const std::string bound = value_of(run.info().provenance, predict::kBoundFact);
  if (panel.predicted && !bound.empty()) return "phases as wide as their bound on " + short_card(bound);
  if (panel.predicted) return "in the order of events";
  const auto has = [&](LineStyle style) {
    return std::ranges::any_of(panel.lines, [style](const auto& line) { return line.style == style; });
  };
  if (has(LineStyle::kBaseline)) return "phases as wide as in B";
  return has(LineStyle::kPredicted) || has(LineStyle::kFormula) ? "phases as wide as measured" : "";
}

OtherRun::OtherRun(const record::Ledger& run, const record::Params& figure, const TimeMap& map,
                   std::span<const record::PhaseSpan> spans)
    : run_(run),
      shown_(shown_range(run.recording(), figure)),
      map_(run.recording(), aligned(figure) ? axis_of(figure, run.recording()) : map.axis(), shown_.range.first,
           shown_.range.last) {
  if (!aligned(figure)) return;
  // A prediction of the same requests has the run's events.
  if (is_predicted(run.recording()) && map_.first() == map.first() && map_.last() == map.last()) {
    map_ = map;
    return;
  }
  const std::vector<record::PhaseSpan> own = record::phase_spans(run.recording(), map_, shown_.range, true);
  to_.emplace(own, map_.end(), spans, map.end());
  back_.emplace(spans, map.end(), own, map_.end());
}

StepLine OtherRun::line(const Axis& x, int columns, LineStyle style) const {
  const auto in_own_time = [this](double position) { return back_ ? (*back_)(std::max(position, 0.0)) : position; };
  const Axis own{.unit = x.unit, .low = in_own_time(x.low), .high = in_own_time(x.high)};
  if (!(own.high > own.low)) return {};
  StepLine line = step_line(columns_of(run_, map_, own, map_.end(), std::max(1, columns / 3)), style, high_total);
  for (double& each : line.x) each = place(each);
  line.end = place(line.end);
  return line;
}

}  // namespace headroom::lessons
