// Traces LibTorch's operators on the calling thread: their time on the CPU, and the bytes of their tensors, which on a
// GPU are assigned to the launched kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <ATen/record_function.h>

#include "demos/engine/live/trace/kernel_trace.h"
#include "demos/record/rows/kernel_span.h"

namespace headroom::live {

// At most one per process; used only on the thread that it traces.
class OperatorTrace {
 public:
  // `kernels`: tracer of the device; if null, the CPU's operators are the spans. `now`: the recording's clock.
  OperatorTrace(KernelTrace* kernels, std::function<record::Nanoseconds()> now);
  ~OperatorTrace();
  OperatorTrace(const OperatorTrace&) = delete;
  OperatorTrace& operator=(const OperatorTrace&) = delete;

  void set_step(std::int32_t step) { step_ = step; }
  // All spans since the last call, by start.
  std::vector<record::KernelSpan> collect();

 private:
  struct Frame;
  static std::unique_ptr<at::ObserverContext> begins(const at::RecordFunction& function);
  static void ends(const at::RecordFunction& function, at::ObserverContext* context);
  void leave(const at::RecordFunction& function, const Frame& frame);

  KernelTrace* kernels_;
  std::function<record::Nanoseconds()> now_;
  std::int32_t step_ = -1;
  std::vector<record::KernelSpan> spans_;
  at::CallbackHandle handle_;
};

}  // namespace headroom::live
