// Computes progress from marks.
#include "demos/engine/live/run/progress_meter.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headroom::live {

using record::Nanoseconds;

void ProgressMeter::begin_step(int index, Nanoseconds now) {
  index_ = index;
  marks_ = 0;
  begun_ = now;
}

void ProgressMeter::end_step(Nanoseconds now) {
  (done_ == 0 ? first_duration_ : other_durations_) += now - begun_;
  ++done_;
  marks_ = 0;
}

protocol::Progress ProgressMeter::at(Nanoseconds now) const {
  protocol::Progress progress;
  progress.step = index_;
  progress.steps = steps_;
  const double within = done_ > index_ ? 0 : std::min(1.0, static_cast<double>(marks_) / std::max(marks_per_step_, 1));
  progress.fraction = std::min(1.0, (done_ + within) / std::max(steps_, 1));
  if (done_ > 0) {
    const double a_step =
        done_ == 1 ? static_cast<double>(first_duration_) : static_cast<double>(other_durations_) / (done_ - 1);
    const double in_this = done_ > index_ ? 0 : std::min(static_cast<double>(now - begun_), a_step);
    progress.time_left = std::max<Nanoseconds>(0, std::llround(a_step * (steps_ - done_) - in_this));
  }
  progress.doing = fmt::format("step {} of {}", index_ + 1, steps_);
  return progress;
}

}  // namespace headroom::live
