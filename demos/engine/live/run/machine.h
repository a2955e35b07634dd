// The engine's machine: probes, devices, and cleaning up after runs. Used only by the worker thread.
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

// Probes that main() installs before any tensor exists. Runners have the CPU's probe, planners also meta's; tracing
// engines also have the tracer, which may be unable to trace.
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
  // The device that the parameter `device` names; auto prefers the GPU. A planner needs no real GPU.
  const protocol::DeviceFacts* device(const std::string& key) const;

  // Starts CUDA, its probe and its clock, once. Throws what LibTorch throws.
  void start_cuda();
  // Null unless this is a tracing engine.
  KernelTrace* kernel_trace() const { return probes_.kernels; }
  nvml::Driver* driver() { return driver_ ? &*driver_ : nullptr; }
  DeviceClock* clock() { return clock_.get(); }

  Probe& probe(record::DeviceKind kind);

  // Sets a run's limits until destruction: the cap (0: none); on a GPU also how segments grow; on the CPU also the
  // machine's memory.
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

  // Processes that run at the same time and share the host; sets this thread's OpenMP threads.
  void share_host(int processes);
  // Host memory available in addition to device memory; 0 if unknown, or for a planner.
  record::Bytes host_memory() const;
  // Sets the run's host memory, which on the CPU is subtracted from the device's limit.
  void keeps_on_host(record::Bytes bytes);
  record::Bytes live_bytes(record::DeviceKind kind) const;
  // Peak since reset_peak(). Not for a planner.
  record::Bytes peak_bytes(record::DeviceKind kind) const;
  void reset_peak(record::DeviceKind kind);
  // Frees what runs leave behind: cached segments, cuBLAS workspaces. Returns false if the device has failed for good.
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
  int sharers_ = 1;
  record::Bytes cpu_cap_ = 0, cpu_limit_ = 0;  // 0: none
};

}  // namespace headroom::live
