#include "lessons/steps/step_lanes.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "demos/record/quantile.h"
#include "lessons/names.h"
#include "lessons/steps/kernel_rows.h"
#include "lessons/steps/step_work.h"

namespace headroom::lessons {

using record::KernelSpan;
using record::Mark;
using record::Nanoseconds;
using record::Phase;
using record::Recording;
using record::SpanKind;

namespace {

constexpr KernelUnits kUnits;
constexpr double kLeastZone = 3;  // columns; narrower operations of a layer are merged

bool same_place(const KernelSpan& a, const KernelSpan& b) { return a.phase == b.phase && a.layer == b.layer; }

// CUPTI's clock differs from the marks' by up to half a millisecond, differently in each run. Kernels launched under a
// mark run after it and before the next mark. This limits the shift to a range of 2 µs in a step of Llama 3.2 1B on an
// H200. `on_host`: uses host calls and the marks' host times.
double shift_to_marks(const std::vector<KernelSpan>& spans, const Recording& recording, const record::StepRange& range,
                      bool on_host) {
  double least = -std::numeric_limits<double>::infinity(), most = -least;
  const KernelSpan* before = nullptr;
  std::size_t at = range.first_mark;
  for (const KernelSpan& span : spans) {
    if (span.kind != (on_host ? SpanKind::kRuntimeCall : SpanKind::kKernel)) continue;
    const KernelSpan* const last = std::exchange(before, &span);
    if (last == nullptr || same_place(*last, span)) continue;
    std::size_t mark = at;
    const auto fits = [&](const Mark& m) { return m.phase == span.phase && m.layer == span.layer; };
    while (mark < range.last_mark && !fits(recording.marks()[mark])) ++mark;
    if (mark == range.last_mark) continue;
    at = mark;
    const Mark& found = recording.marks()[mark];
    const auto time = static_cast<double>(on_host ? found.host_time : found.device_time);
    least = std::max(least, time - static_cast<double>(span.start));
    most = std::min(most, time - static_cast<double>(last->start + last->duration));
  }
  return least > most ? least : std::isinf(least) ? 0 : (least + most) / 2;
}

}  // namespace

StepSpans::StepSpans(const Recording& recording, const record::StepRange& range, record::TimeAxis axis)
    : recording_(&recording) {
  if (range.step < 0 || axis == record::TimeAxis::kEvent || range.first_mark >= recording.marks().size()) return;
  const std::vector<KernelSpan>& all = recording.kernel_spans();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].step == range.step) numbers_.push_back(i);
  std::ranges::stable_sort(numbers_, {}, [&](std::size_t i) { return all[i].start; });
  for (const std::size_t number : numbers_) spans_.push_back(all[number]);
  const bool on_host = axis == record::TimeAxis::kHost;
  const Mark& origin = recording.marks()[range.first_mark];
  shift_ = -static_cast<double>(on_host ? origin.host_time : origin.device_time);
  if (recording.info().device == record::DeviceKind::kGpu) shift_ += shift_to_marks(spans_, recording, range, on_host);
}

namespace {

// The stream with most of the step's kernels.
int main_row(const StepSpans& step) {
  std::map<int, std::size_t> counts;
  for (const KernelSpan& span : step.spans())
    if (computes(span)) ++counts[row_of(span)];
  const auto most = std::ranges::max_element(counts, {}, &std::pair<const int, std::size_t>::second);
  return most == counts.end() ? 0 : most->first;
}

std::string name_of(const StepSpans& step, const KernelSpan& span) {
  return operation_name(step.recording().op_name(span.op));
}

// Consecutive spans of the main stream in one layer or operation.
struct Zone {
  std::size_t first = 0, last = 0;  // indices of spans
  int kernels = 0;
  record::Bytes bytes = 0;
};

template <class Same>
std::vector<Zone> zones_of(const StepSpans& step, Same same) {
  std::vector<Zone> zones;
  const int row = main_row(step);
  for (std::size_t i = 0; i < step.spans().size(); ++i) {
    const KernelSpan& span = step.spans()[i];
    if (row_of(span) != row) continue;
    if (zones.empty() || !same(step.spans()[zones.back().first], span)) zones.push_back({i, i});
    zones.back().last = i;
    zones.back().kernels += computes(span);
    zones.back().bytes += std::max<record::Bytes>(span.bytes, 0);
  }
  return zones;
}

std::vector<Zone> operations_of(const StepSpans& step) {
  // Names each operator once, because a step has thousands of spans.
  std::map<std::uint16_t, std::string> names;
  const auto name = [&](const KernelSpan& span) -> const std::string& {
    auto& words = names.try_emplace(span.op).first->second;
    if (words.empty()) words = name_of(step, span);
    return words;
  };
  return zones_of(step, [&](const KernelSpan& a, const KernelSpan& b) {
    return same_place(a, b) && (a.op == b.op || name(a) == name(b));
  });
}

TimeBox box_of(const StepSpans& step, const Zone& zone) {
  return {.begin = step.begin(zone.first), .end = step.end(zone.last), .work = Work::kZone, .bytes = zone.bytes};
}

std::string zone_text(const StepSpans& step, const Zone& zone) {
  const KernelSpan& span = step.spans()[zone.first];
  const bool on_cpu = span.kind == SpanKind::kHostOperator;
  std::string text =
      fmt::format(", {}: {} {}{}, {}", record::label_of(span.phase), zone.kernels, on_cpu ? "operator" : "kernel",
                  zone.kernels == 1 ? "" : "s", amount_text(step.end(zone.last) - step.begin(zone.first), kUnits.time));
  if (zone.bytes > 0) text += ", " + bytes_text(zone.bytes, kUnits.bytes);
  return text;
}

bool in_view(const Axis& x, double begin, double end) { return end >= x.low && begin <= x.high; }

Lane layer_lane(const StepSpans& step, const Axis& x) {
  Lane lane{.label = "Layer"};
  for (const Zone& zone : zones_of(step, same_place)) {
    const KernelSpan& span = step.spans()[zone.first];
    TimeBox box = box_of(step, zone);
    if (span.layer == record::kNoLayer || !in_view(x, box.begin, box.end)) continue;
    box.label = std::to_string(span.layer);
    box.tip = "layer " + box.label + zone_text(step, zone);
    lane.boxes.push_back(std::move(box));
  }
  return lane;
}

Lane operation_lane(const StepSpans& step, const Axis& x, double least) {
  Lane lane{.label = "Operation"};
  const KernelSpan* before = nullptr;
  for (const Zone& zone : operations_of(step)) {
    const KernelSpan& span = step.spans()[zone.first];
    TimeBox box = box_of(step, zone);
    if (!in_view(x, box.begin, box.end)) continue;
    const KernelSpan* const last = std::exchange(before, &span);
    const bool narrow = box.end - box.begin < least;
    if (last != nullptr && narrow && same_place(*last, span)) {
      TimeBox& joined = lane.boxes.back();
      if (joined.count > 1 || joined.end - joined.begin < least) {
        joined.end = box.end;
        joined.label.clear();
        joined.tip = fmt::format("{} operations", ++joined.count);
        continue;
      }
    }
    box.label = name_of(step, span);
    box.tip = box.label.empty() ? "not named" : box.label;
    if (span.layer != record::kNoLayer) box.tip += fmt::format(", layer {}", span.layer);
    box.tip += zone_text(step, zone);
    lane.boxes.push_back(std::move(box));
  }
  return lane;
}

// Lanes by row_of(): kernels by stream, then the host.
std::vector<std::pair<int, Lane>> span_lanes(const StepSpans& step, const Axis& x,
                                             const std::function<double(double)>& place, double least,
                                             std::optional<std::size_t> selected) {
  std::map<int, std::vector<PlacedSpan>> rows;
  bool on_cpu = false;
  for (std::size_t i = 0; i < step.spans().size(); ++i) {
    const KernelSpan& span = step.spans()[i];
    on_cpu = on_cpu || span.kind == SpanKind::kHostOperator;
    const double begin = place(step.begin(i)), end = place(step.end(i));
    std::vector<PlacedSpan>& row = rows[row_of(span)];
    if (in_view(x, begin, end)) row.push_back({&span, begin, end, step.number(i)});
  }
  const std::size_t streams = rows.size() - rows.count(-1);
  std::vector<std::pair<int, Lane>> lanes;
  for (const auto& [row, spans] : rows)
    lanes.push_back({row,
                     {.label = row_label(row, streams, on_cpu ? "Operator" : "Kernel"),
                      .boxes = boxes_of(step.recording(), spans, least, kUnits, selected)}});
  if (rows.contains(-1)) std::rotate(lanes.begin(), lanes.begin() + 1, lanes.end());  // the host's lane is below
  return lanes;
}

double column_of(const Axis& x, int columns) { return (x.high - x.low) / std::max(1, columns); }

std::optional<std::size_t> place_of(const StepSpans& step, std::size_t number) {
  for (std::size_t i = 0; i < step.spans().size(); ++i)
    if (step.number(i) == number) return i;
  return std::nullopt;
}

// Panel indices of the lanes that arrows connect.
struct LanePlaces {
  std::size_t operations = 0;
  std::map<int, std::size_t> rows;  // by row_of()
};

void add_launch(Lanes& panel, const StepSpans& step, std::size_t chosen, const LanePlaces& lanes) {
  const KernelSpan& span = step.spans()[chosen];
  if (span.correlation == 0 || !lanes.rows.contains(-1)) return;
  for (std::size_t call = 0; call < step.spans().size(); ++call) {
    const KernelSpan& from = step.spans()[call];
    if (from.kind != SpanKind::kRuntimeCall || from.correlation != span.correlation) continue;
    for (std::size_t i = 0; i < step.spans().size(); ++i) {
      const KernelSpan& to = step.spans()[i];
      if (!record::on_device(to.kind) || to.correlation != span.correlation) continue;
      panel.flows.push_back({lanes.rows.at(-1), lanes.rows.at(row_of(to)), step.begin(call), step.begin(i)});
    }
  }
}

// Connects the chosen kernel's operation in the forward pass with its counterpart in the layer's backward pass.
void add_counterpart(Lanes& panel, const StepSpans& step, std::size_t chosen, const LanePlaces& lanes) {
  const KernelSpan& span = step.spans()[chosen];
  const std::string name = name_of(step, span);
  if (name.empty()) return;
  std::optional<double> forward, backward;
  for (const Zone& zone : operations_of(step)) {
    const KernelSpan& each = step.spans()[zone.first];
    if (each.layer != span.layer || name_of(step, each) != name) continue;
    // If an operation occurs twice in a layer, the one with the chosen kernel wins, else the first.
    const bool own = zone.first <= chosen && chosen <= zone.last && each.phase == span.phase;
    std::optional<double>* const side = each.phase == Phase::kForward    ? &forward
                                        : each.phase == Phase::kBackward ? &backward
                                                                         : nullptr;
    if (side != nullptr && (own || !*side)) *side = (step.begin(zone.first) + step.end(zone.last)) / 2;
  }
  if (forward && backward) panel.flows.push_back({lanes.operations, lanes.operations, *forward, *backward});
}

bool holds(std::string_view text, std::string_view wanted) {
  const auto equal = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), equal) != text.end();
}

std::vector<FoundSpan> found_in(const StepSpans& step, std::string_view wanted) {
  std::vector<FoundSpan> found;
  if (wanted.empty()) return found;
  std::map<std::pair<std::uint16_t, std::uint16_t>, bool> fits;  // by operation and kernel
  for (std::size_t i = 0; i < step.spans().size(); ++i) {
    const KernelSpan& span = step.spans()[i];
    if (span.kind == SpanKind::kRuntimeCall) continue;
    const auto [known, is_new] = fits.try_emplace({span.op, span.name}, false);
    if (is_new)
      known->second = holds(name_of(step, span), wanted) || holds(step.recording().op_name(span.name), wanted);
    if (known->second) found.push_back({step.number(i), step.begin(i), step.end(i)});
  }
  return found;
}

}  // namespace

SpanSums sums_of(const StepSpans& step, double begin, double end) {
  SpanSums sums;
  std::vector<double> durations;
  double until = begin, busy = 0;
  for (std::size_t i = 0; i < step.spans().size(); ++i) {
    const KernelSpan& span = step.spans()[i];
    if (span.kind == SpanKind::kRuntimeCall) continue;
    const double from = std::max(step.begin(i), until), to = std::min(step.end(i), end);
    busy += std::max(0.0, to - from);
    until = std::max(until, to);
    if (!computes(span) || step.begin(i) < begin || step.begin(i) >= end) continue;
    sums.on_cpu = span.kind == SpanKind::kHostOperator;
    durations.push_back(static_cast<double>(span.duration));
  }
  sums.count = durations.size();
  sums.sum = std::accumulate(durations.begin(), durations.end(), 0.0);
  sums.busy = end > begin ? busy / (end - begin) : 0;
  sums.median = record::quantiles_of(std::move(durations)).median;
  return sums;
}

std::string sums_text(const SpanSums& sums) {
  const std::string_view noun = sums.on_cpu ? "operator" : "kernel";
  std::string text = fmt::format("{} {}{}", record::format_count(static_cast<std::int64_t>(sums.count)), noun,
                                 sums.count == 1 ? "" : "s");
  if (sums.count > 0)
    text += fmt::format(", {} in total, median {}", amount_text(sums.sum, kUnits.time),
                        amount_text(sums.median, kUnits.time));
  return text + fmt::format(", {:.0f} % busy", 100 * sums.busy);
}

namespace {

void add_run_lanes(Lanes& panel, const StepSpans& step, const View& view, const std::string& prefix) {
  const double least = column_of(panel.x, view.columns);
  const std::size_t top = panel.lanes.size();
  panel.lanes.push_back(layer_lane(step, panel.x));
  panel.lanes.push_back(operation_lane(step, panel.x, least * kLeastZone));
  LanePlaces places{.operations = top + 1};
  const auto as_it_is = [](double position) { return position; };
  for (auto& [row, lane] : span_lanes(step, panel.x, as_it_is, least, view.kernel)) {
    places.rows.emplace(row, panel.lanes.size());
    panel.lanes.push_back(std::move(lane));
  }
  for (std::size_t i = top; i < panel.lanes.size(); ++i) panel.lanes[i].label = prefix + panel.lanes[i].label;
  panel.lanes[top].note = prefix + work_text(work_of(step.spans()), time_unit(length_of(step.spans())));
  if (const auto chosen = view.kernel ? place_of(step, *view.kernel) : std::nullopt) {
    add_launch(panel, step, *chosen, places);
    add_counterpart(panel, step, *chosen, places);
  }
  panel.found = found_in(step, view.find);
  if (view.range) panel.marked = sums_text(sums_of(step, view.range->first, view.range->second));
}

void add_baseline_lanes(Lanes& panel, const StepSpans& step, const OtherRun& run, const View& view,
                        const ShownUnit& time) {
  const auto place = [&](double own) { return run.place(own); };
  std::vector<std::pair<int, Lane>> lanes = span_lanes(step, panel.x, place, column_of(panel.x, view.columns), {});
  if (lanes.empty()) return;
  lanes.front().second.note = "A: " + work_text(work_of(step.spans()), time);
  for (auto& [row, lane] : lanes) {
    lane.label = "A: " + lane.label;
    lane.baseline = true;
    for (TimeBox& box : lane.boxes) box.span.reset();  // the selection is in the shown run
    panel.lanes.push_back(std::move(lane));
  }
}

}  // namespace

bool add_lanes_below(Lanes& panel, const StepSpans& step, const View& view, const OtherRun* baseline) {
  if (step.empty()) return false;
  std::optional<StepSpans> other;
  if (baseline != nullptr) other.emplace(baseline->recording(), baseline->range(), baseline->axis());
  const bool both = other && !other->empty();
  add_run_lanes(panel, step, view, both ? "B: " : "");
  if (both) add_baseline_lanes(panel, *other, *baseline, view, time_unit(length_of(step.spans())));
  return true;
}

}  // namespace headroom::lessons
