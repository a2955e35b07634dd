// Lanes below a step's memory: layers, operations, kernels and host calls of a traced step, on the memory's axis.
#pragma once

#include <string>
#include <vector>

#include "demos/record/recording.h"
#include "demos/record/timeline.h"
#include "lessons/figure.h"
#include "lessons/steps/run_lines.h"

namespace headroom::lessons {

class StepSpans {
 public:
  // Times count from the step's first mark. Empty if the run was not traced or the axis counts events.
  StepSpans(const record::Recording& recording, const record::StepRange& range, record::TimeAxis axis);

  bool empty() const { return spans_.empty(); }
  const record::Recording& recording() const { return *recording_; }
  // In order of begin.
  const std::vector<record::KernelSpan>& spans() const { return spans_; }
  std::size_t number(std::size_t i) const { return numbers_[i]; }  // index into kernel_spans()
  double begin(std::size_t i) const { return static_cast<double>(spans_[i].start) + shift_; }
  double end(std::size_t i) const { return begin(i) + static_cast<double>(spans_[i].duration); }

 private:
  const record::Recording* recording_;
  std::vector<record::KernelSpan> spans_;
  std::vector<std::size_t> numbers_;
  double shift_ = 0;  // axis position minus span time
};

// Sums over kernels (on a CPU: operators) that begin in a range of the axis.
struct SpanSums {
  std::size_t count = 0;
  double sum = 0, median = 0;  // of the kernels' durations, ns
  double busy = 0;             // share of the range with work on the device, 0 to 1
  bool on_cpu = false;
};
SpanSums sums_of(const StepSpans& step, double begin, double end);
std::string sums_text(const SpanSums& sums);

// Adds the shown run's lanes with the selected kernel's arrows, search results and the marked range, then `baseline`'s
// kernels and host calls. False if the shown run was not traced.
bool add_lanes_below(Lanes& panel, const StepSpans& step, const View& view, const OtherRun* baseline);

}  // namespace headroom::lessons
