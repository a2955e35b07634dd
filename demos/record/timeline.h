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
  bool complete = false;  // its end mark has arrived (and, on a GPU, its device time)
};
std::vector<StepRange> steps_of(const Recording& recording);
// The last one that is complete; nothing: none is yet.
std::optional<StepRange> last_whole_step(const Recording& recording);

// Places events on an axis. On a GPU an allocation happens when the host issues it, milliseconds ahead of the device;
// kDevice places it at the time its stream reached it, interpolated between the device times of the marks around it.
// Positions are nanoseconds from the mark at `first`, or else from that event (kEvent: event count), and
// never decrease with the event index. While a run is live, kDevice ends at the last mark that the device has reached;
// of a run that is over, what came after that mark (it ran out of memory) is placed by the host's clock from there on.
class TimeMap {
 public:
  TimeMap(const Recording& recording, TimeAxis axis, std::uint64_t first, std::uint64_t last);

  TimeAxis axis() const { return axis_; }
  double position(std::uint64_t event) const;  // of an event in [first, last]; others as the nearer end
  double position(const Mark& mark) const;     // within [begin, end]
  // The last event at or before that position; the first where there is none.
  std::uint64_t event_at(double position) const;
  // The first event at or after it; last() where there is none.
  std::uint64_t event_from(double position) const;
  double begin() const { return 0; }
  double end() const { return end_; }
  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return last_; }  // may be lower than asked for while device times are pending

 private:
  // A mark: what is between two of them is placed in proportion to the host's clock.
  struct Knot {
    std::uint64_t event;
    double host, position;
  };
  void add_knots(std::size_t first_mark, std::size_t end_mark);
  void end_knots(bool ends_at_mark);
  double time_of(std::uint64_t event) const;
  double place(std::uint64_t event, double host) const;  // before the origin is taken away

  const Recording* recording_;
  TimeAxis axis_;
  bool on_device_clock_;
  std::uint64_t first_, last_;
  std::vector<Knot> knots_;
  double origin_ = 0;
  double end_ = 0;
};

// One stretch of the same phase (and layer) on an axis, for phase bands. Recompute is inside backward.
struct PhaseSpan {
  Phase phase = Phase::kSetup;
  std::uint16_t layer = kNoLayer;
  double begin = 0, end = 0;
};
// merged: one span for each run of equal phase (layer: kNoLayer), recompute folded into backward; the stretches of
// recompute follow behind all others. Phases without length are left out.
std::vector<PhaseSpan> phase_spans(const Recording& recording, const TimeMap& map, const StepRange& range, bool merged);

// A column of the picture: the lowest and the highest stack among the one at its beginning and its events, each one
// that existed.
struct Column {
  double begin = 0, end = 0;
  Totals low, high;
  std::uint64_t low_event = 0, high_event = 0;
};
// `columns` equal columns over [begin, end) of the axis; those beyond map.end() are left out, and the one that reaches
// map.end() holds the last event, too. For 1 million events this takes a few milliseconds.
std::vector<Column> reduce(const Ledger& ledger, const TimeMap& map, double begin, double end, int columns);

}  // namespace headroom::record
