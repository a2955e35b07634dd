// Memory over one step, stacked by kind, with phases above and limits; below, the kernels of a traced step on the same
// axis.
#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/format.h>

#include "lessons/axes.h"
#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/alive.h"
#include "lessons/steps/collective_lanes.h"
#include "lessons/steps/paired_events.h"
#include "lessons/steps/passing_bytes.h"
#include "lessons/steps/run_lines.h"
#include "lessons/steps/shown_range.h"
#include "lessons/steps/step_lanes.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::Bytes;
using record::Column;
using record::TimeMap;

constexpr std::array<record::Choice, 4> kAxisChoices{{
    {"phase", "phases aligned"},
    {"device", "device time"},
    {"host", "host time"},
    {"event", "events"},
}};
constexpr std::array kMemoryTimelineSchema{
    experiments::choice("axis", "Time axis",
                        "When the device reached an allocation, with the phases of other runs stretched to match; the "
                        "same unstretched; when the host issued it; or how many came before it",
                        kAxisChoices, "phase"),
    kShowParam,
    kStepParam,
    kRankParam,
};

// A limit this many times the data would flatten the plot, so it is named but not drawn.
constexpr double kFarLimit = 3;
// A process that takes at most this many times what its allocator reserved is in the plot.
constexpr double kFarProcess = 1.4;
// Room on the right for the failed allocation, as a share of the time.
constexpr double kFailedWidth = 0.06;
constexpr double kRightMargin = 0.012;
constexpr int kListRows = 12;

double high_reserved(const Column& column) {
  return static_cast<double>(std::max(column.high.reserved, column.low.reserved));
}

struct Shot {
  const record::Ledger& run;
  const View& view;
  const record::Params& params;
  ShownRange shown;
  TimeMap map;
  std::vector<record::PhaseSpan> spans;
  double data_end = 0;

  const record::Recording& recording() const { return run.recording(); }
  std::uint64_t first() const { return map.first(); }
  std::uint64_t last() const { return map.last(); }
  bool asked() const { return view.hidden || view.asked || view.guess.has_value(); }
};

// End of the first forward pass, after which the answer begins.
double end_of_forward(const Shot& shot) {
  const auto forward = std::ranges::find(shot.spans, record::Phase::kForward, &record::PhaseSpan::phase);
  return forward == shot.spans.end() ? shot.map.end() : std::min(forward->end, shot.map.end());
}

// One past the last event before `position`. On an event axis, the next phase's first event is at this phase's end.
std::uint64_t events_until(const TimeMap& map, double position) {
  if (position >= map.end()) return map.last();
  return std::min(map.last(), std::max(map.first() + 1, map.event_from(position)));
}

const record::OutOfMemoryFacts* failure_of(const Shot& shot) {
  return failure_at_end(shot.recording(), shot.shown.range.last);
}

// The card to compare with; null if the run failed at its own limit or no card is known.
const CardLimit* card_of(const Shot& shot) {
  const bool own_limit = failure_of(shot) != nullptr && shot.recording().info().cap > 0;
  return shot.view.card && !own_limit ? &*shot.view.card : nullptr;
}

Bytes limit_of(const Shot& shot) {
  if (const CardLimit* const card = card_of(shot)) return card->left();
  const record::RunInfo& info = shot.recording().info();
  if (info.cap > 0) return info.cap;
  return info.device == record::DeviceKind::kGpu ? info.device_memory : 0;
}

Axis x_axis(const Shot& shot, const record::Ledger* baseline) {
  Axis axis{.unit = shot.map.axis() == record::TimeAxis::kEvent ? AxisUnit::kEvents : AxisUnit::kNanoseconds,
            .low = 0,
            .high = shot.map.end() * (1 + (failure_of(shot) ? kFailedWidth : kRightMargin))};
  if (shot.shown.growing) {
    axis.high = room_to_grow(shot.map.end());
    // Steps are alike: this one will take as long as the last.
    const auto done = record::last_whole_step(shot.recording());
    if (done && shot.shown.range.step >= 0) {
      const double length = TimeMap(shot.recording(), shot.map.axis(), done->first, done->last).end();
      axis.high = std::max(length, shot.map.end()) * (1 + kRightMargin);
    }
  }
  if (baseline && !aligned(shot.params)) {
    const ShownRange shown = shown_range(baseline->recording(), shot.params);
    const TimeMap map(baseline->recording(), shot.map.axis(), shown.range.first, shown.range.last);
    axis.high = std::max(axis.high, map.end() * (1 + kRightMargin));
  }
  if (shot.view.begin) axis.low = *shot.view.begin;
  if (shot.view.end) axis.high = *shot.view.end;
  if (!(axis.high > axis.low)) axis.high = axis.low + 1;
  return axis;
}

struct ProcessSample {
  double x = 0;
  Bytes bytes = 0;
};

// Returns what the process took in the step; empty if unknown. Samples have the host's clock; each is placed at the
// first event not before it, and of those at one place the last counts.
std::vector<ProcessSample> process_samples(const Shot& shot) {
  std::vector<ProcessSample> samples;
  if (shot.first() >= shot.last()) return samples;
  const auto& events = shot.recording().events();
  const auto begin = events.begin() + static_cast<std::ptrdiff_t>(shot.first());
  const auto end = events.begin() + static_cast<std::ptrdiff_t>(shot.last());
  const auto at_begin = counter_at(shot.recording(), record::CounterKind::kProcessBytes, begin->time);
  if (!at_begin) return samples;
  samples.push_back({0, *at_begin});
  for (const record::CounterSample& sample : shot.recording().counters()) {
    if (sample.kind != record::CounterKind::kProcessBytes || sample.time < begin->time) continue;
    const auto event = std::lower_bound(begin, end, sample.time,
                                        [](const record::MemEvent& e, record::Nanoseconds t) { return e.time < t; });
    if (event == end) break;
    const double x = shot.map.position(static_cast<std::uint64_t>(event - events.begin()));
    if (x > shot.data_end) break;
    if (x > samples.back().x) samples.push_back({x, 0});
    samples.back().bytes = sample.value;
  }
  return samples;
}

// While the answer is hidden, the axis follows the forward pass and the card.
Axis y_axis(const Shot& shot, const std::vector<ProcessSample>& process,
            std::initializer_list<const record::Ledger*> others) {
  const auto limit = static_cast<double>(limit_of(shot));
  double high = 0;
  if (shot.asked()) {
    const auto known =
        static_cast<double>(shot.run.peak(shot.first(), events_until(shot.map, end_of_forward(shot))).totals.allocated);
    high = limit > 0 && limit <= kFarLimit * known ? 1.25 * std::max(limit, known) : 2 * known;
  }
  if (!shot.view.hidden) {
    // In a live run, earlier steps show how high this one may go.
    const std::uint64_t first = shot.shown.growing ? 0 : shot.first();
    const auto peak = static_cast<double>(shot.run.peak(first, shot.last()).totals.allocated);
    const auto reserved = static_cast<double>(shot.run.peak_reserved(first, shot.last()));
    high = std::max(high, std::max(peak, reserved) * 1.06);
    for (const ProcessSample& sample : process)
      if (const auto bytes = static_cast<double>(sample.bytes); bytes <= kFarProcess * reserved)
        high = std::max(high, bytes * 1.02);
    if (limit > 0 && limit <= kFarLimit * peak) high = std::max(high, 1.25 * limit);
    if (const auto* failed = failure_of(shot)) {
      const auto wanted = static_cast<double>(failed->allocated + failed->requested);
      high = std::max(high, std::min(wanted * 1.04, 1.6 * std::max(limit, peak)));
    }
  }
  for (const record::Ledger* const other : others) {
    if (other == nullptr) continue;
    const ShownRange shown = shown_range(other->recording(), shot.params);
    high =
        std::max(high, 1.06 * static_cast<double>(other->peak(shown.range.first, shown.range.last).totals.allocated));
  }
  return {.unit = AxisUnit::kBytes, .high = shot.shown.growing ? room_for_bytes(high) : round_up_bytes(high)};
}

std::vector<Band> bands_of(const Shot& shot) {
  std::vector<Band> bands;
  for (const record::PhaseSpan& span : shot.spans) {
    const char* const shorter = span.phase == record::Phase::kOptimizer    ? "opt."
                                : span.phase == record::Phase::kEvaluation ? "eval."
                                                                           : "";
    bands.push_back({std::string(record::label_of(span.phase)), shorter, span.begin, span.end, tone_of(span.phase),
                     span.phase == record::Phase::kRecompute});
  }
  return bands;
}

std::optional<StepLine> reserved_line(const std::vector<Column>& columns, const Axis& y) {
  StepLine line = step_line(columns, LineStyle::kReserved, high_reserved);
  const double most = line.y.empty() ? 0 : *std::ranges::max_element(line.y);
  if (most <= 0) return std::nullopt;
  const std::string value = bytes_text(static_cast<Bytes>(most), unit_of(y), 1);
  line.label = "reserved by the allocator " + value;
  line.short_label = "reserved " + value;
  return line;
}

std::optional<StepLine> process_line(const Shot& shot, const std::vector<ProcessSample>& process, const Axis& x,
                                     const Axis& y) {
  StepLine line{.style = LineStyle::kProcess, .end = 0};
  for (const ProcessSample& sample : process) {
    line.x.push_back(std::max(x.low, sample.x));
    line.y.push_back(static_cast<double>(sample.bytes));
  }
  if (line.x.empty()) return std::nullopt;
  line.end = std::min(shot.data_end, x.high);
  const auto [least, largest] = std::ranges::minmax_element(line.y);
  const double most = *largest;
  // A process holds at least its allocator's bytes; a lower sample is outdated.
  const record::Bytes held = std::max(shot.run.peak_reserved(shot.first(), shot.last()),
                                      shot.run.peak(shot.first(), shot.last()).totals.allocated);
  if (*least < static_cast<double>(held)) return std::nullopt;
  if (most > y.high || line.end <= line.x.front()) return std::nullopt;  // far above the tensors; the levels list it
  const std::string value = bytes_text(static_cast<Bytes>(most), unit_of(y), 1);
  line.short_label = "process " + value;
  line.label = fmt::format("whole {}, {} of it outside the allocator", line.short_label,
                           bytes_text(static_cast<Bytes>(most) - held, unit_of(y), 1));
  return line;
}

OtherRun beside(const Shot& shot, const record::Ledger& run) {
  return OtherRun(run, shot.params, shot.map, shot.spans);
}

// Run A is shown whole even while the answer is hidden.
void add_baseline_line(Timeline& panel, const Shot& shot, const record::Ledger& baseline) {
  const OtherRun other = beside(shot, baseline);
  if (!other.shown()) return;
  StepLine line = other.line(panel.x, shot.view.columns, LineStyle::kBaseline);
  if (line.x.empty()) return;
  panel.lines.push_back(std::move(line));
  const record::Peak peak = other.peak();
  const ShownUnit unit = unit_of(panel.y);
  std::string label = "A peak " + bytes_text(peak.totals.allocated, unit, 1);
  if (panel.cap && static_cast<double>(peak.totals.allocated) > panel.cap->y) {
    const auto over = peak.totals.allocated - static_cast<Bytes>(panel.cap->y);
    label += fmt::format(", does not fit by {}", bytes_text(over, unit, 1));
  }
  panel.baseline_peak = PeakMark{other.place_of_peak(), static_cast<double>(peak.totals.allocated), std::move(label)};
}

void add_parting(Timeline& panel, const Shot& shot, const record::Ledger& predicted, const OtherRun& other) {
  if (!other.parts_at()) return;
  const Parting& parting = *other.pairs()->parting();
  const PartingWords words = parting_words(parting, shot.run, predicted, EventBytes::kExact);
  PartingMark mark;
  mark.x = *other.parts_at();
  mark.y = static_cast<double>(shot.run.at(parting.run.value_or(shot.last() - 1)).allocated);
  mark.label = "parts here";
  mark.tip = fmt::format("Prediction and measurement part here. Predicted: {}. Measured: {}", words.other, words.run);
  panel.parting = std::move(mark);
}

// The predicted or closed-form total of the shown run.
void add_computed_line(Timeline& panel, const Shot& shot, const record::Ledger& computed, LineStyle style) {
  OtherRun other = beside(shot, computed);
  if (!other.shown()) return;
  if (is_prediction_of(computed.recording(), shot.recording())) {
    other.pair_with(shot.run);
    add_parting(panel, shot, computed, other);
  }
  StepLine line = other.line(panel.x, shot.view.columns, style);
  if (line.x.empty()) return;
  if (style == LineStyle::kFormula) {
    line.short_label = "formula " + bytes_text(other.peak().totals.allocated, unit_of(panel.y), 1);
    line.label = "by the " + line.short_label;
  }
  panel.lines.push_back(std::move(line));
}

void add_limit(Timeline& panel, const Shot& shot) {
  const record::RunInfo& info = shot.recording().info();
  const Bytes limit = limit_of(shot);
  const CardLimit* const card = card_of(shot);
  const ShownUnit unit = unit_of(panel.y);
  if (limit > 0 && card != nullptr) {
    panel.cap = CapLine{left_label(*card, unit), static_cast<double>(limit)};
    return;
  }
  // The memory of the run's device matters only if the run or the guess comes near it.
  const bool far = static_cast<double>(limit) >= std::max(panel.y.high, shot.view.guess_room);
  if (limit <= 0 || (info.cap == 0 && far)) return;
  const bool is_card = info.device == record::DeviceKind::kGpu;
  panel.cap = CapLine{short_bytes(limit, unit) + (is_card ? " card" : " limit"), static_cast<double>(limit)};
}

void add_failure(Timeline& panel, const Shot& shot) {
  const auto* facts = failure_of(shot);
  if (facts == nullptr || shot.view.hidden) return;
  panel.failed =
      FailedRequest{shot.map.end(), static_cast<double>(facts->allocated), static_cast<double>(facts->requested),
                    "requested " + bytes_text(facts->requested, unit_of(panel.y))};
}

void add_peak(Timeline& panel, const Shot& shot) {
  if (shot.view.hidden || shot.first() >= shot.last()) return;
  const record::Peak peak = shot.run.peak(shot.first(), shot.last());
  panel.peak = PeakMark{shot.map.position(peak.event), static_cast<double>(peak.totals.allocated),
                        "peak " + bytes_text(peak.totals.allocated, unit_of(panel.y), 1)};
}

// Tensors alive at the cursor, else at the failure or the peak; while the answer is hidden, at the last moment shown.
void add_alive(Timeline& panel, const Shot& shot) {
  if (shot.first() >= shot.last()) return;
  double position = shot.view.cursor ? std::clamp(*shot.view.cursor, 0.0, shot.data_end) : shot.data_end;
  std::uint64_t event = std::min(shot.map.event_at(position), events_until(shot.map, shot.data_end) - 1);
  if (!shot.view.cursor && !shot.view.hidden && !failure_of(shot)) {
    event = shot.run.peak(shot.first(), shot.last()).event;
    position = shot.map.position(event);
  }
  panel.alive = alive_list(shot.run, event, kListRows);
  panel.alive->position = position;
  panel.alive->at_cursor = shot.view.cursor.has_value();
  panel.alive->when = when_text(shot.recording(), event, position, panel.x);
  panel.levels = levels_at(shot.run, event);
  if (shot.view.hidden) panel.levels.resize(2);  // reserved bytes would show the peak
}

Timeline timeline_of(const Shot& shot, const FigureInput& input) {
  const record::Ledger* const baseline = input.baseline;
  Timeline panel;
  panel.predicted = is_predicted(shot.recording());
  panel.x = x_axis(shot, baseline);
  const bool computed = !shot.view.hidden && !shot.shown.growing && aligned(shot.params);
  const std::vector<ProcessSample> process = process_samples(shot);
  panel.y = y_axis(shot, process, {baseline, computed ? input.formula : nullptr});
  panel.bands = bands_of(shot);
  const std::vector<Column> columns = columns_of(shot.run, shot.map, panel.x, shot.data_end, shot.view.columns);
  for (const Column& column : columns) {
    panel.stack.push_back({column.begin, column.end, column.high.by_category, column.low.by_category});
  }
  add_passing(panel, columns, shot.run);
  panel.quiet = quiet_kinds(columns);
  // Segments stay reserved between steps, so these lines would show the hidden peak.
  if (!shot.view.hidden) {
    if (auto line = reserved_line(columns, panel.y)) panel.lines.push_back(std::move(*line));
    if (auto line = process_line(shot, process, panel.x, panel.y)) panel.lines.push_back(std::move(*line));
  }
  add_limit(panel, shot);
  if (baseline) add_baseline_line(panel, shot, *baseline);
  if (computed && input.predicted) add_computed_line(panel, shot, *input.predicted, LineStyle::kPredicted);
  if (computed && input.formula) add_computed_line(panel, shot, *input.formula, LineStyle::kFormula);
  add_peak(panel, shot);
  add_failure(panel, shot);
  add_alive(panel, shot);
  if (shot.view.hidden) panel.hidden_from = shot.data_end;
  return panel;
}

void add_memory_timeline_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const record::Recording& recording = input.run->recording();
  const ShownRange shown = shown_range(recording, params);
  set_step(figure.head, shown.range.step);
  if (!shown.empty_reason.empty()) return figure.leave_empty(shown.empty_reason);
  if (shown.range.step < 0) figure.head.title = "Memory over the whole run";
  Shot shot{*input.run,
            input.view,
            params,
            shown,
            TimeMap(recording, axis_of(params, recording), shown.range.first, shown.range.last),
            {},
            0};
  shot.spans = record::phase_spans(recording, shot.map, shown.range, true);
  shot.data_end = input.view.hidden ? end_of_forward(shot) : shot.map.end();
  figure.head.growing = shown.growing;
  Timeline panel = timeline_of(shot, input);
  if (aligned(params)) panel.x.name = axis_name(panel, shot.recording());
  const bool compared =
      std::ranges::any_of(panel.lines, [](const StepLine& line) { return line.style == LineStyle::kBaseline; });
  if (compared) add_baseline(figure.head.provenance, input.baseline->recording());
  Lanes lanes{.x = panel.x};
  figure.add(std::move(panel));
  if (shot.view.hidden) return;  // lanes would show the answer
  std::optional<OtherRun> other;
  if (compared) other.emplace(beside(shot, *input.baseline));
  const StepSpans step(recording, shot.shown.range, shot.map.axis());
  const bool traced = add_lanes_below(lanes, step, shot.view, other ? &*other : nullptr);
  const bool ranks = add_collective_lanes(lanes, input.ranks, recording, shot.shown.range, shot.map.axis());
  if (traced || ranks) figure.head.title = fmt::format("Memory and {} of one step", traced ? "kernels" : "collectives");
  if (recording.info().ranks > 1) figure.head.title += fmt::format(", rank {}", recording.info().rank);
  if (traced || ranks) figure.add(std::move(lanes));
}

}  // namespace

extern const Figure kMemoryTimeline;
constinit const Figure kMemoryTimeline{
    .id = "memory_timeline",
    .title = "Memory over one step",
    .caption = "What is allocated over one training step, stacked by kind, with phases, peak and limits; kernels below",
    .schema = kMemoryTimelineSchema,
    .add_panels = add_memory_timeline_panels,
};

}  // namespace headroom::lessons
