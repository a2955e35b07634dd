// The lanes below a step's memory: layers, operations, kernels and the host's calls of a traced step, on the memory's axis.
#pragma once

#include <string>
#include <vector>

#include "demos/record/recording.h"
#include "demos/record/timeline.h"
#include "lessons/figure.h"
#include "lessons/run_lines.h"

namespace headroom::lessons {

// The spans of one step where its memory is.
class StepSpans {
 public:
  // On the axis of time, from the step's first mark on. None: the run was not traced, or the axis counts events.
  StepSpans(const record::Recording& recording, const record::StepRange& range, record::TimeAxis axis);

  bool empty() const { return spans_.empty(); }
  const record::Recording& recording() const { return *recording_; }
  // By their beginnings.
  const std::vector<record::KernelSpan>& spans() const { return spans_; }
  std::size_t number(std::size_t i) const { return numbers_[i]; }  // in the recording's kernel_spans()
  double begin(std::size_t i) const { return static_cast<double>(spans_[i].start) + shift_; }
  double end(std::size_t i) const { return begin(i) + static_cast<double>(spans_[i].duration); }

 private:
  const record::Recording* recording_;
  std::vector<record::KernelSpan> spans_;
  std::vector<std::size_t> numbers_;
  double shift_ = 0;  // from a span's time to the axis
};

// Of the kernels (on a CPU: operators) that begin in a range of the axis.
struct SpanSums {
  std::size_t count = 0;
  double sum = 0, median = 0;  // ns
  double busy = 0;             // share of the range in which one of the device's spans ran, 0 to 1
  bool on_cpu = false;
};
SpanSums sums_of(const StepSpans& step, double begin, double end);
// "48 kernels, 1,200 µs in sum, median 23.1 µs, 92 % busy"
std::string sums_text(const SpanSums& sums);

// All lanes of the run on show, with what its view asks for: the selected kernel's arrows, what is found, what is marked; then
// kernels and host of the run that it is compared with (null: none). False: the run on show was not traced.
bool add_lanes_below(Lanes& panel, const StepSpans& step, const View& view, const OtherRun* baseline);

}  // namespace headroom::lessons
