// Totals of a traced step on its device: launches, time, gaps, bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {

struct SpanFilter {
  std::int32_t step = 0;
  std::string_view op = {};  // "mlp.rms_norm", or an ending, "rms_norm"; empty: all
  int phase = -1;            // a record::Phase; -1: all
};
std::vector<record::KernelSpan> spans_of(const record::Recording& recording, const SpanFilter& filter);

// True for a kernel, or a CPU's operator.
bool computes(const record::KernelSpan& span);

struct StepWork {
  std::size_t launches = 0;             // kernels; on the CPU operators
  std::size_t copies = 0;               // copies and memsets
  record::Nanoseconds kernel_time = 0;  // sum over kernels or operators
  record::Nanoseconds idle = 0;         // gaps between spans
  record::Nanoseconds length = 0;       // first start to last end
  record::Bytes bytes = 0;              // least bytes moved, as far as known
  bool on_cpu = false;                  // operators, not kernels
};
StepWork work_of(const std::vector<record::KernelSpan>& spans);
// "634 launches, 41.0 ms of kernels, 3.2 ms idle, 38.10 GiB"; times in `unit`.
std::string work_text(const StepWork& work, const ShownUnit& unit);

// Steps with spans, ascending.
std::vector<std::int32_t> traced_steps(const record::Recording& recording);
// The last traced step, which is warmed up; -1: not traced.
std::int32_t last_traced_step(const record::Recording& recording);

// One sentence on why there are no kernels to show; empty if there are.
std::string why_not_traced(const record::Recording& recording);

Work work_kind(const record::Recording& recording, const record::KernelSpan& span);

}  // namespace headroom::lessons
