// Totals of runs as lines of a timeline, on the shown run's axis.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demos/record/ledger.h"
#include "demos/record/phase_map.h"
#include "demos/record/schema.h"
#include "demos/record/timeline.h"
#include "lessons/panels/timeline.h"
#include "lessons/steps/paired_events.h"
#include "lessons/steps/shown_range.h"

namespace headroom::lessons {

// True if events have an order but no times.
bool is_predicted(const record::Recording& run);
// True if the run's settings are those of the planner's prediction, so that their events can be paired.
bool is_prediction_of(const record::Recording& prediction, const record::Recording& run);
// The time axis by the figure's parameter `axis`. "phase" stretches other runs onto the run's own time.
record::TimeAxis axis_of(const record::Params& figure, const record::Recording& run);
bool aligned(const record::Params& figure);

// About `columns` columns over the whole axis, of which data may fill a part.
std::vector<record::Column> columns_of(const record::Ledger& run, const record::TimeMap& map, const Axis& x,
                                       double data_end, int columns);

// Weights and optimizer state, which are muted while constant.
std::array<bool, record::kNumCategories> quiet_kinds(const std::vector<record::Column>& columns);

double high_total(const record::Column& column);

// The gray of a phase, from 0 to 3.
int tone_of(record::Phase phase);

// `value` of each column as a step function without redundant points.
template <class Value>
StepLine step_line(const std::vector<record::Column>& columns, LineStyle style, Value value) {
  StepLine line{.style = style, .end = 0};
  for (const record::Column& column : columns) {
    const double y = value(column);
    line.end = column.end;
    if (!line.y.empty() && line.y.back() == y) continue;
    line.x.push_back(column.begin);
    line.y.push_back(y);
  }
  return line;
}

// A card's name without maker and form factor: "RTX 4090", "H200".
std::string short_card(std::string card);
// Says, if phases are aligned, which run's times set the phases' widths.
std::string axis_name(const Timeline& panel, const record::Recording& run);

// Another run, in its own time and on the figure's axis.
class OtherRun {
 public:
  // `map` and `spans` are the shown run's. `map` must outlive this object.
  OtherRun(const record::Ledger& run, const record::Params& figure, const record::TimeMap& map,
           std::span<const record::PhaseSpan> spans);
  // Places events at the times of the shown run's, up to the first that differs.
  void pair_with(const record::Ledger& shown);

  bool shown() const { return shown_.empty_reason.empty(); }
  record::Peak peak() const { return run_.peak(map_.first(), map_.last()); }
  double place_of_peak() const { return place(map_.position(peak().event)); }
  const record::Recording& recording() const { return run_.recording(); }
  const record::StepRange& range() const { return shown_.range; }
  record::TimeAxis axis() const { return map_.axis(); }
  // Converts from the run's own axis to the figure's.
  double place(double own) const { return to_ ? (*to_)(own) : own; }
  // Null unless paired.
  const PairedEvents* pairs() const { return pairs_ ? &*pairs_ : nullptr; }
  // The place on the figure's axis from which on events differ; empty if none does.
  std::optional<double> parts_at() const { return parts_at_; }
  // The run's highest total per column while events are paired, as the stack has it; else per three columns, so that
  // the layers' sawtooth does not flicker.
  StepLine line(const Axis& x, int columns, LineStyle style) const;

 private:
  void align(std::pair<double, double> start);
  // The first event at or after a position on the figure's axis.
  std::uint64_t event_from(double position) const;

  const record::Ledger& run_;
  const record::TimeMap& shown_map_;
  std::vector<record::PhaseSpan> shown_spans_;
  ShownRange shown_;
  record::TimeMap map_;
  double end_ = 0;                             // on the figure's axis
  std::optional<record::PhaseMap> to_, back_;  // empty unless phases are aligned
  std::optional<PairedEvents> pairs_;
  std::optional<double> parts_at_;
};

}  // namespace headroom::lessons
