// Progress and time left of a run, from its marks.
#pragma once

#include <cstdint>

#include "demos/protocol/messages.h"
#include "demos/record/units.h"

namespace headroom::live {

class ProgressMeter {
 public:
  ProgressMeter(int steps, int marks_per_step) : steps_(steps), marks_per_step_(marks_per_step) {}

  void on_mark() { ++marks_; }
  void begin_step(int index, record::Nanoseconds now);
  void end_step(record::Nanoseconds now);

  // The caller sets `run`. The first step is slower, so its time counts only until a second step is done.
  protocol::Progress at(record::Nanoseconds now) const;

 private:
  int steps_;
  int marks_per_step_;
  int index_ = 0;
  int marks_ = 0;  // marks of the current step
  int done_ = 0;
  record::Nanoseconds begun_ = 0;
  record::Nanoseconds first_duration_ = 0;
  record::Nanoseconds other_durations_ = 0;  // sum over all steps but the first
};

}  // namespace headroom::live
