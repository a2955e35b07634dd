// Computes axes, steps, phases and columns.
#include "demos/record/timeline.h"

#include <algorithm>
#include <ranges>

namespace headroom::record {
namespace {

bool on_gpu(const Recording& recording) { return recording.info().device == DeviceKind::kGpu; }

bool is_over(const Recording& recording) {
  return recording.outcome().has_value() || recording.info().source != Source::kLive;
}

std::size_t first_mark_from(const std::vector<Mark>& marks, std::uint64_t event) {
  const auto found = std::ranges::lower_bound(marks, event, {}, &Mark::event_index);
  return static_cast<std::size_t>(found - marks.begin());
}

// The mark from which a range starting at event `first` is measured: of several marks there, the first one of the last
// step, since the mark before that ends a step; if none is at `first`, the last earlier mark.
std::size_t opening_mark(const std::vector<Mark>& marks, std::uint64_t first) {
  const std::size_t after = first_mark_from(marks, first + 1);
  if (after == 0) return 0;
  std::size_t mark = after - 1;
  while (mark > 0 && marks[mark].event_index == first && marks[mark - 1].event_index == first &&
         marks[mark - 1].step == marks[mark].step)
    --mark;
  return mark;
}

// The mark that closes a range ending before event `last`: of several marks there, the one that ends the step,
// otherwise the last one; if none is at `last`, the next mark.
std::size_t closing_mark(const std::vector<Mark>& marks, std::uint64_t last) {
  std::size_t mark = first_mark_from(marks, last);
  if (mark == marks.size() || marks[mark].event_index != last) return mark;
  const std::int32_t step = mark == 0 ? -1 : marks[mark - 1].step;
  while (marks[mark].step == step && mark + 1 < marks.size() && marks[mark + 1].event_index == last) ++mark;
  return mark;
}

}  // namespace

std::vector<StepRange> steps_of(const Recording& recording) {
  const std::vector<Mark>& marks = recording.marks();
  const std::uint64_t events = recording.events().size();
  std::vector<StepRange> steps;
  for (std::size_t i = 0; i < marks.size();) {
    std::size_t end = i + 1;
    while (end < marks.size() && marks[end].step == marks[i].step) ++end;
    if (marks[i].step >= 0) {
      StepRange step{.step = marks[i].step,
                     .first = std::min(marks[i].event_index, events),
                     .last = events,
                     .first_mark = i,
                     .last_mark = end,
                     .complete = false};
      if (end < marks.size()) {
        step.complete = marks[end].event_index <= events && (!on_gpu(recording) || marks[end].device_time != kPending);
        step.last = std::min(marks[end].event_index, events);
      }
      steps.push_back(step);
    }
    i = end;
  }
  return steps;
}

std::optional<StepRange> last_whole_step(const Recording& recording) {
  const std::vector<StepRange> steps = steps_of(recording);
  const auto whole = std::find_if(steps.rbegin(), steps.rend(), [](const StepRange& step) { return step.complete; });
  return whole == steps.rend() ? std::nullopt : std::optional(*whole);
}

TimeMap::TimeMap(const Recording& recording, TimeAxis axis, std::uint64_t first, std::uint64_t last)
    : recording_(&recording),
      axis_(axis),
      on_device_clock_(axis == TimeAxis::kDevice && on_gpu(recording)),
      first_(std::min<std::uint64_t>(first, recording.events().size())),
      last_(std::clamp<std::uint64_t>(last, first_, recording.events().size())) {
  if (axis_ == TimeAxis::kEvent) {
    end_ = static_cast<double>(last_ - first_);
    return;
  }
  const std::vector<Mark>& marks = recording.marks();
  const std::size_t opening = opening_mark(marks, first_);
  const std::size_t closing = closing_mark(marks, last_);
  add_knots(opening, std::min(closing + 1, marks.size()));
  end_knots(closing < marks.size());
  const bool begins_at_mark = knots_.front().event == first_;
  origin_ = begins_at_mark ? knots_.front().position : place(first_, time_of(first_));
  end_ = std::max(0.0, place(last_, time_of(last_)) - origin_);
}

// Marks [first_mark, end_mark) that the axis's clock has reached.
void TimeMap::add_knots(std::size_t first_mark, std::size_t end_mark) {
  for (std::size_t i = first_mark; i < end_mark; ++i) {
    const Mark& mark = recording_->marks()[i];
    if (on_device_clock_ && mark.device_time == kPending) return;
    auto position = static_cast<double>(on_device_clock_ ? mark.device_time : mark.host_time);
    if (!knots_.empty()) position = std::max(position, knots_.back().position);
    knots_.push_back({mark.event_index, static_cast<double>(mark.host_time), position});
  }
}

// Ensures that the last knot is not before last_.
void TimeMap::end_knots(bool ends_at_mark) {
  if (ends_at_mark && !knots_.empty() && knots_.back().event >= last_) return;
  if (on_device_clock_ && !is_over(*recording_)) {
    last_ = knots_.empty() ? first_ : std::clamp(knots_.back().event, first_, last_);
    if (knots_.empty()) knots_.push_back({first_, 0, 0});
    return;
  }
  if (knots_.empty()) knots_.push_back({first_, time_of(first_), time_of(first_)});
  const Knot from = knots_.back();
  const double host = std::max(from.host, time_of(last_ == first_ ? last_ : last_ - 1));
  knots_.push_back({last_, host, from.position + host - from.host});
}

double TimeMap::time_of(std::uint64_t event) const {
  const std::vector<MemEvent>& events = recording_->events();
  if (events.empty()) return 0;
  return static_cast<double>(events[std::min<std::uint64_t>(event, events.size() - 1)].time);
}

double TimeMap::place(std::uint64_t event, double host) const {
  const auto after = std::ranges::upper_bound(knots_, event, {}, &Knot::event);
  if (after == knots_.begin()) return after->position - std::max(0.0, after->host - host);
  const Knot& from = *(after - 1);
  if (after == knots_.end() || after->host <= from.host) return from.position;
  const double share = std::clamp((host - from.host) / (after->host - from.host), 0.0, 1.0);
  return from.position + share * (after->position - from.position);
}

double TimeMap::position(std::uint64_t event) const {
  const std::uint64_t e = std::clamp(event, first_, last_);
  if (axis_ == TimeAxis::kEvent) return static_cast<double>(e - first_);
  return e == last_ ? end_ : std::clamp(place(e, time_of(e)) - origin_, 0.0, end_);
}

double TimeMap::position(const Mark& mark) const {
  if (axis_ == TimeAxis::kEvent) return static_cast<double>(std::clamp(mark.event_index, first_, last_) - first_);
  double at = static_cast<double>(mark.host_time);
  if (on_device_clock_)
    at = mark.device_time != kPending ? static_cast<double>(mark.device_time) : place(mark.event_index, at);
  return std::clamp(at - origin_, 0.0, end_);
}

std::uint64_t TimeMap::event_from(double position) const {
  const auto earlier = [&](std::uint64_t event) { return this->position(event) < position; };
  return *std::ranges::partition_point(std::views::iota(first_, last_), earlier);
}

std::uint64_t TimeMap::event_at(double position) const {
  const auto reached = [&](std::uint64_t event) { return this->position(event) <= position; };
  const std::uint64_t later = *std::ranges::partition_point(std::views::iota(first_, last_), reached);
  return later == first_ ? first_ : later - 1;
}

std::vector<PhaseSpan> phase_spans(const Recording& recording, const TimeMap& map, const StepRange& range,
                                   bool merged) {
  const std::vector<Mark>& marks = recording.marks();
  std::vector<PhaseSpan> spans;
  std::vector<PhaseSpan> recomputed;
  const auto add = [](std::vector<PhaseSpan>& list, const PhaseSpan& span) {
    if (!(span.end > span.begin)) return;
    const bool goes_on = !list.empty() && list.back().phase == span.phase && list.back().layer == span.layer &&
                         list.back().end == span.begin;
    if (goes_on)
      list.back().end = span.end;
    else
      list.push_back(span);
  };
  for (std::size_t i = range.first_mark; i < std::min(range.last_mark, marks.size()); ++i) {
    const double end = i + 1 < marks.size() ? map.position(marks[i + 1]) : map.end();
    PhaseSpan span{marks[i].phase, merged ? kNoLayer : marks[i].layer, map.position(marks[i]), end};
    if (merged && span.phase == Phase::kRecompute) {
      add(recomputed, span);
      span.phase = Phase::kBackward;
    }
    add(spans, span);
  }
  spans.insert(spans.end(), recomputed.begin(), recomputed.end());
  return spans;
}

std::vector<Column> reduce(const Ledger& ledger, const TimeMap& map, double begin, double end, int columns) {
  const auto event_from = [&map](double position) {
    return position >= map.end() ? map.last() : map.event_from(position);
  };
  std::vector<Column> picture = reduce(ledger, event_from, begin, end, columns);
  while (!picture.empty() && picture.back().begin > map.end()) picture.pop_back();
  return picture;
}

std::vector<Column> reduce(const Ledger& ledger, const std::function<std::uint64_t(double)>& event_from, double begin,
                           double end, int columns) {
  std::vector<Column> picture;
  if (columns <= 0 || !(end > begin)) return picture;
  picture.reserve(static_cast<std::size_t>(columns));
  const double width = (end - begin) / columns;
  std::uint64_t from = event_from(begin);
  for (int i = 0; i < columns; ++i) {
    Column column{.begin = begin + i * width, .end = i + 1 == columns ? end : begin + (i + 1) * width};
    const std::uint64_t to = event_from(column.end);
    const Ledger::Extremes found = ledger.extremes(from == 0 ? 0 : from - 1, to);
    column.low = found.low;
    column.high = found.high;
    column.low_event = found.low_event;
    column.high_event = found.high_event;
    picture.push_back(column);
    from = to;
  }
  return picture;
}

}  // namespace headroom::record
