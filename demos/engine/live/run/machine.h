// The engine's machine: which allocators are watched, what there is to run on, and how to put a device back to where it
// was. Owned and used by the worker thread alone.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <c10/core/Device.h>

#include "demos/engine/live/probes/cpu_probe.h"
#include "demos/engine/live/probes/cuda_allocator.h"
#include "demos/engine/live/probes/cuda_probe.h"
#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/probes/meta_probe.h"
#include "demos/engine/live/run/device_facts.h"
#include "demos/engine/live/trace/device_clock.h"
#include "demos/engine/live/trace/kernel_trace.h"
#include "demos/nvml/nvml.h"

namespace headroom::live {

// The probes that main() installs before any tensor exists. A runner has the CPU's, a planner meta's too, a tracing
// engine the tracer of kernels, which may hear nothing.
struct Probes {
  CpuProbe* cpu = nullptr;
  MetaProbe* meta = nullptr;
  KernelTrace* kernels = nullptr;
};

enum class EngineRole { kRunner, kPlanner };

class Machine {
 public:
  Machine(EngineRole role, Probes probes, EventSink& sink, MachineFacts facts);

  const MachineFacts& facts() const { return facts_; }
  bool planner() const { return role_ == EngineRole::kPlanner; }
  // The device's facts by the value of the parameter `device`; auto is the GPU where there is one. Null: there is none.
  // A planner needs no GPU to predict one.
  const protocol::DeviceFacts* device(const std::string& key) const;

  // Starts CUDA, its probe and its clock, once; later calls do nothing. Throws what LibTorch throws.
  void start_cuda();
  // Null unless this is a tracing engine.
  KernelTrace* kernel_trace() const { return probes_.kernels; }
  nvml::Driver* driver() { return driver_ ? &*driver_ : nullptr; }
  DeviceClock* clock() { return clock_.get(); }

  // Who watches the allocator of a run on `kind`.
  Probe& probe(record::DeviceKind kind);

  // For the time of a run: the cap (0: none), lifted again by the destructor, and on a GPU how segments grow. On the CPU
  // also what the machine can give.
  class AllocatorGuard {
   public:
    AllocatorGuard(Machine& machine, record::DeviceKind kind, record::Bytes cap, bool expandable_segments);
    ~AllocatorGuard();
    AllocatorGuard(const AllocatorGuard&) = delete;
    AllocatorGuard& operator=(const AllocatorGuard&) = delete;

   private:
    Machine& machine_;
    std::optional<cuda_allocator::Cap> cuda_;
  };

  // What the host can give now beside a device's memory; 0: not known, or a planner, which takes none.
  record::Bytes host_memory() const;
  // The run keeps so many bytes on the host now. On the CPU they come out of what its device may take.
  void keeps_on_host(record::Bytes bytes);
  // Bytes that the run's allocator has handed out now.
  record::Bytes live_bytes(record::DeviceKind kind) const;
  // The most of them since reset_peak(). Not in a planner.
  record::Bytes peak_bytes(record::DeviceKind kind) const;
  void reset_peak(record::DeviceKind kind);
  // Gives back what a run leaves behind without owning it: cached segments, cuBLAS workspaces. False: the device no
  // longer answers, and never will in this process.
  bool clean_up(record::DeviceKind kind);

 private:
  EngineRole role_;
  Probes probes_;
  EventSink& sink_;
  MachineFacts facts_;
  CudaProbe* cuda_ = nullptr;
  std::shared_ptr<void> listening_;
  std::unique_ptr<DeviceClock> clock_;
  std::optional<nvml::Driver> driver_;
  record::Bytes cpu_cap_ = 0, cpu_limit_ = 0;  // of the run on the CPU; 0: none
};

}  // namespace headroom::live
