// From events to a picture's columns: time axes, steps and phases, and the reduction for drawing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "demos/record/ledger.h"

namespace headroom::record {

enum class TimeAxis : std::uint8_t { kDevice, kHost, kEvent };

// Event range [first, last) and marks [first_mark, last_mark) of one training step.
struct StepRange {
    std::int32_t step = -1;
    std::uint64_t first = 0, last = 0;
    std::size_t first_mark = 0, last_mark = 0;
    bool complete = false; // its end mark has arrived (and, on a GPU, its device time)
};
std::vector<StepRange> steps_of(const Recording& recording);

// Places events on an axis. On a GPU an allocation happens when the host issues it, milliseconds ahead of the device;
// kDevice places it at the time its stream reached it, interpolated between the device times of the marks around it.
// Positions are nanoseconds from the origin event (kEvent: event count) and never decrease with the event index.
class TimeMap {
public:
    TimeMap(const Recording& recording, TimeAxis axis, std::uint64_t first, std::uint64_t last);

    TimeAxis axis() const { return axis_; }
    double position(std::uint64_t event) const;   // of an event in [first, last]
    std::uint64_t event_at(double position) const; // the last event at or before that position
    double begin() const { return 0; }
    double end() const { return position(last_); } // drawn up to here (live: the last finished mark)
    std::uint64_t first() const { return first_; }
    std::uint64_t last() const { return last_; }   // may be lower than asked for while device times are pending

private:
    void place_on_host_clock(const Recording& recording);
    void place_on_device_clock(const Recording& recording);

    TimeAxis axis_;
    std::uint64_t first_, last_;
    // Where each event of [first_, last_] lies, the end included; never decreasing. kEvent needs none.
    std::vector<double> positions_;
};

// One stretch of the same phase (and layer) on an axis, for phase bands. Recompute lies inside backward.
struct PhaseSpan {
    Phase phase = Phase::kSetup;
    std::uint16_t layer = kNoLayer;
    double begin = 0, end = 0;
};
// merged: one span for each run of equal phase, recompute folded into backward and returned beside it.
std::vector<PhaseSpan> phase_spans(const Recording& recording, const TimeMap& map, const StepRange& range, bool merged);

// A column of the picture: the lowest and the highest stack among its events, each one that existed. Columns without an
// event of their own repeat the standing totals.
struct Column {
    double begin = 0, end = 0;
    Totals low, high;
    std::uint64_t low_event = 0, high_event = 0;
};
// `columns` equal columns over [begin, end) of the axis. For 1 million events this takes a few milliseconds.
std::vector<Column> reduce(const Ledger& ledger, const TimeMap& map, double begin, double end, int columns);

} // namespace headroom::record
