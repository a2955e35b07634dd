// Time axes, steps, phases and columns: see timeline.h.
#include "demos/record/timeline.h"

#include <algorithm>
#include <cmath>

namespace headroom::record {
namespace {

bool on_gpu(const Recording& recording) { return recording.info().device == DeviceKind::kGpu; }

// Marks whose event index lies in [first, last], as indices [begin, end).
std::pair<std::size_t, std::size_t> marks_within(const std::vector<Mark>& marks, std::uint64_t first,
                                                 std::uint64_t last) {
    const auto before = [](const Mark& mark, std::uint64_t event) { return mark.event_index < event; };
    const auto after = [](std::uint64_t event, const Mark& mark) { return event < mark.event_index; };
    const auto begin = std::lower_bound(marks.begin(), marks.end(), first, before);
    const auto end = std::upper_bound(begin, marks.end(), last, after);
    return {begin - marks.begin(), end - marks.begin()};
}

// The device's time of a host time between two marks. Without a gap on the host's clock it is the later mark's.
double between(const Mark& from, const Mark& to, Nanoseconds host_time) {
    const double host_gap = static_cast<double>(to.host_time - from.host_time);
    const double device_gap = static_cast<double>(to.device_time - from.device_time);
    if (host_gap <= 0) return static_cast<double>(to.device_time);
    const double share = std::clamp(static_cast<double>(host_time - from.host_time) / host_gap, 0.0, 1.0);
    return static_cast<double>(from.device_time) + share * device_gap;
}

} // namespace

std::vector<StepRange> steps_of(const Recording& recording) {
    const auto& marks = recording.marks();
    std::vector<StepRange> steps;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        const Mark& mark = marks[i];
        if (mark.step < 0) continue;
        if (steps.empty() || steps.back().step != mark.step || steps.back().complete) {
            StepRange step;
            step.step = mark.step;
            step.first = mark.event_index;
            step.first_mark = i;
            steps.push_back(step);
        }
        StepRange& step = steps.back();
        const bool ends_here = i + 1 < marks.size() && marks[i + 1].step != mark.step;
        if (ends_here) {
            const Mark& end = marks[i + 1];
            step.last = end.event_index;
            step.last_mark = i + 1;
            step.complete = !on_gpu(recording) || end.device_time != kPending;
        } else {
            step.last = recording.events().size();
            step.last_mark = marks.size();
        }
    }
    return steps;
}

TimeMap::TimeMap(const Recording& recording, TimeAxis axis, std::uint64_t first, std::uint64_t last)
    : axis_(axis), first_(std::min<std::uint64_t>(first, recording.events().size())),
      last_(std::clamp<std::uint64_t>(last, first_, recording.events().size())) {
    if (axis_ == TimeAxis::kDevice && !on_gpu(recording)) axis_ = TimeAxis::kHost; // one clock on a CPU
    if (axis_ == TimeAxis::kHost) place_on_host_clock(recording);
    if (axis_ == TimeAxis::kDevice) place_on_device_clock(recording);
}

void TimeMap::place_on_host_clock(const Recording& recording) {
    const auto& events = recording.events();
    const auto& marks = recording.marks();
    const auto [mark_begin, mark_end] = marks_within(marks, first_, last_);
    positions_.reserve(last_ - first_ + 1);
    const bool begins_at_mark = mark_begin < mark_end && marks[mark_begin].event_index == first_;
    Nanoseconds origin = 0;
    if (begins_at_mark) origin = marks[mark_begin].host_time;
    else if (first_ < events.size()) origin = events[first_].time;
    double latest = 0;
    for (std::uint64_t e = first_; e < last_; ++e) {
        latest = std::max(latest, static_cast<double>(events[e].time - origin));
        positions_.push_back(latest);
    }
    const bool ends_at_mark = mark_begin < mark_end && marks[mark_end - 1].event_index == last_;
    if (ends_at_mark) latest = std::max(latest, static_cast<double>(marks[mark_end - 1].host_time - origin));
    positions_.push_back(latest);
}

void TimeMap::place_on_device_clock(const Recording& recording) {
    const auto& events = recording.events();
    const auto& marks = recording.marks();
    auto [begin, end] = marks_within(marks, first_, last_);
    // Marks that the device has reached; the first one that it has not ends the picture.
    std::size_t reached = begin;
    while (reached < end && marks[reached].device_time != kPending) ++reached;
    if (reached == begin) {
        last_ = first_;
        positions_.assign(1, 0.0);
        return;
    }
    const double origin = static_cast<double>(marks[begin].device_time);
    if (reached < end || marks[reached - 1].event_index < last_) last_ = marks[reached - 1].event_index;
    positions_.reserve(last_ - first_ + 1);
    double latest = 0;
    std::size_t mark = begin;
    for (std::uint64_t e = first_; e < last_; ++e) {
        while (mark + 1 < reached && marks[mark + 1].event_index <= e) ++mark;
        const Mark& from = marks[mark];
        const Mark& to = marks[std::min(mark + 1, reached - 1)];
        latest = std::max(latest, between(from, to, events[e].time) - origin);
        positions_.push_back(latest);
    }
    latest = std::max(latest, static_cast<double>(marks[reached - 1].device_time) - origin);
    positions_.push_back(latest);
}

double TimeMap::position(std::uint64_t event) const {
    const std::uint64_t e = std::clamp(event, first_, last_);
    return axis_ == TimeAxis::kEvent ? static_cast<double>(e - first_) : positions_[e - first_];
}

std::uint64_t TimeMap::event_at(double position) const {
    if (last_ == first_ || !(position > 0)) return first_;
    const std::uint64_t latest = last_ - 1; // last_ itself is no event of the range
    if (axis_ == TimeAxis::kEvent) {
        return std::min(latest, first_ + static_cast<std::uint64_t>(std::min(position, static_cast<double>(latest))));
    }
    const auto after = std::upper_bound(positions_.begin(), positions_.end(), position);
    if (after == positions_.begin()) return first_;
    return std::min(latest, first_ + static_cast<std::uint64_t>(after - positions_.begin()) - 1);
}

std::vector<PhaseSpan> phase_spans(const Recording& recording, const TimeMap& map, const StepRange& range,
                                   bool merged) {
    const auto& marks = recording.marks();
    std::vector<PhaseSpan> spans;
    std::vector<PhaseSpan> recomputed;
    const auto extend = [](std::vector<PhaseSpan>& list, PhaseSpan span, bool same_layer) {
        PhaseSpan* back = list.empty() ? nullptr : &list.back();
        const bool joins = back && back->phase == span.phase && (!same_layer || back->layer == span.layer) &&
                           back->end >= span.begin;
        if (joins) back->end = std::max(back->end, span.end);
        else list.push_back(span);
    };
    for (std::size_t i = range.first_mark; i < std::min(range.last_mark, marks.size()); ++i) {
        if (marks[i].event_index > map.last()) break;
        const std::uint64_t until = i + 1 < range.last_mark || (range.complete && i + 1 < marks.size())
                                        ? marks[i + 1].event_index
                                        : range.last;
        PhaseSpan span{marks[i].phase, marks[i].layer, map.position(marks[i].event_index), map.position(until)};
        if (!merged) {
            extend(spans, span, true);
            continue;
        }
        span.layer = kNoLayer;
        if (span.phase == Phase::kRecompute) {
            extend(recomputed, span, false);
            span.phase = Phase::kBackward; // recompute happens inside backward
        }
        extend(spans, span, false);
    }
    spans.insert(spans.end(), recomputed.begin(), recomputed.end());
    return spans;
}

std::vector<Column> reduce(const Ledger& ledger, const TimeMap& map, double begin, double end, int columns) {
    std::vector<Column> picture;
    if (columns <= 0 || !(end > begin)) return picture;
    picture.reserve(static_cast<std::size_t>(columns));
    const double width = (end - begin) / columns;
    for (int i = 0; i < columns; ++i) {
        Column column;
        column.begin = begin + i * width;
        column.end = begin + (i + 1) * width;
        if (column.begin > map.end()) break;
        // What stands when the column begins, then every event inside it. Events at exactly its end belong to the next.
        const std::uint64_t standing = map.event_at(column.begin);
        const double inside = std::nextafter(column.end, column.begin);
        const std::uint64_t last = std::max(standing, map.event_at(inside));
        const auto extremes = ledger.extremes(standing, last + 1);
        column.low = extremes.low;
        column.high = extremes.high;
        column.low_event = extremes.low_event;
        column.high_event = extremes.high_event;
        picture.push_back(column);
    }
    return picture;
}

} // namespace headroom::record
