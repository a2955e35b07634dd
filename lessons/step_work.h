// What a traced step did on its device, summed up: launches, time, gaps, bytes.
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

// The part of a step that is summed up or drawn; what is not given is not asked for.
struct SpanFilter {
  std::int32_t step = 0;
  std::string_view op = {};  // "mlp.rms_norm", or what several begin or end with: "rms_norm"; empty: all
  int phase = -1;            // of record::Phase; -1: all
  int layer = -1;            // -1: all, and what is in none
};
std::vector<record::KernelSpan> spans_of(const record::Recording& recording, const SpanFilter& filter);

struct StepWork {
  std::size_t launches = 0;             // kernels; on the CPU operators
  std::size_t copies = 0;               // and memsets
  record::Nanoseconds kernel_time = 0;  // of the kernels, summed; on the CPU of the operators
  record::Nanoseconds idle = 0;         // between the first and the last, while nothing ran
  record::Nanoseconds length = 0;       // from the first to the last
  record::Bytes bytes = 0;              // that must move at least, as far as known
  bool on_cpu = false;                  // operators, not kernels
};
StepWork work_of(const std::vector<record::KernelSpan>& spans);
// "634 launches, 41.0 ms of kernels, 3.2 ms idle, 38.10 GiB"; times in `unit`.
std::string work_text(const StepWork& work, const ShownUnit& unit);

// The steps that have spans, in ascending order.
std::vector<std::int32_t> traced_steps(const record::Recording& recording);
// The last traced step, warmed up; -1: the run was not traced.
std::int32_t last_traced_step(const record::Recording& recording);

// Why this run has no kernels to show; one sentence. Empty if it has.
std::string why_not_traced(const record::Recording& recording);

// From the name of the kernel or operator.
Work work_kind(const record::Recording& recording, const record::KernelSpan& span);

}  // namespace headroom::lessons
