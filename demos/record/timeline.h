// Time axes, steps, phases, and the columns of a picture.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "demos/record/ledger.h"

namespace headroom::record {

enum class TimeAxis : std::uint8_t { kDevice, kHost, kEvent };

// Events [first, last) and marks [first_mark, last_mark) of a training step.
struct StepRange {
  std::int32_t step = -1;
  std::uint64_t first = 0, last = 0;
  std::size_t first_mark = 0, last_mark = 0;
  bool complete = false;  // the end mark (on a GPU with its device time) has arrived
};
std::vector<StepRange> steps_of(const Recording& recording);
std::optional<StepRange> last_whole_step(const Recording& recording);

// The host issues a GPU allocation milliseconds ahead of the device; kDevice places the allocation when its stream
// reached it, interpolated between marks. Positions are nanoseconds (kEvent: events) from the mark at event `first`
// (without a mark, from that event) and never decrease. A live run's kDevice axis ends at the last mark that the device
// has reached. In a finished run, later events (out of memory) continue on the host's clock.
class TimeMap {
 public:
  TimeMap(const Recording& recording, TimeAxis axis, std::uint64_t first, std::uint64_t last);

  TimeAxis axis() const { return axis_; }
  double position(std::uint64_t event) const;  // clamps `event` to [first, last]
  double position(const Mark& mark) const;     // within [0, end]
  // The last event at or before `position`, otherwise the first.
  std::uint64_t event_at(double position) const;
  // The first event at or after `position`, otherwise last().
  std::uint64_t event_from(double position) const;
  double end() const { return end_; }
  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return last_; }  // may be lower than requested while device times are pending

 private:
  // Events between two marks are placed in proportion to the host's clock.
  struct Knot {
    std::uint64_t event;
    double host, position;
  };
  void add_knots(std::size_t first_mark, std::size_t end_mark);
  void end_knots(bool ends_at_mark);
  double time_of(std::uint64_t event) const;
  double place(std::uint64_t event, double host) const;  // not relative to the origin

  const Recording* recording_;
  TimeAxis axis_;
  bool on_device_clock_;
  std::uint64_t first_, last_;
  std::vector<Knot> knots_;
  double origin_ = 0;
  double end_ = 0;
};

// A stretch of one phase and layer on an axis. Recompute lies inside the backward pass.
struct PhaseSpan {
  Phase phase = Phase::kSetup;
  std::uint16_t layer = kNoLayer;
  double begin = 0, end = 0;
};
// `merged`: ignores layers and includes recompute in the backward pass; recompute spans come last. Omits empty phases.
std::vector<PhaseSpan> phase_spans(const Recording& recording, const TimeMap& map, const StepRange& range, bool merged);

// Lowest and highest totals at the column's start and after its events.
struct Column {
  double begin = 0, end = 0;
  Totals low, high;
  std::uint64_t low_event = 0, high_event = 0;
};
// `columns` equal columns of [begin, end), up to map.end(); the last one includes the last event. 1 million events
// take a few milliseconds.
std::vector<Column> reduce(const Ledger& ledger, const TimeMap& map, double begin, double end, int columns);
// `event_from` returns the first event at or after a position, and ascends.
std::vector<Column> reduce(const Ledger& ledger, const std::function<std::uint64_t(double)>& event_from, double begin,
                           double end, int columns);

}  // namespace headroom::record
