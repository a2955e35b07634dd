// Manages probes and devices.
#include "demos/engine/live/run/machine.h"

#include <algorithm>
#include <array>
#include <utility>

#include <ATen/Parallel.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>

namespace headroom::live {

using record::Bytes;
using record::DeviceKind;

namespace {

constexpr int kDevice = 0;  // one GPU per run

// A tenth of the memory that is free at the start of a CPU run is left to LibTorch's buffers, the app and other
// programs.
constexpr Bytes kPartLeftFree = 10;

}  // namespace

Machine::Machine(EngineRole role, Probes probes, EventSink& sink, MachineFacts facts)
    : role_(role), probes_(probes), sink_(sink), facts_(std::move(facts)) {}

const protocol::DeviceFacts* Machine::device(const std::string& key) const {
  const protocol::DeviceFacts* cpu = nullptr;
  const protocol::DeviceFacts* gpu = nullptr;
  for (const protocol::DeviceFacts& device : facts_.devices) {
    if (device.kind == DeviceKind::kCpu && cpu == nullptr) cpu = &device;
    if (device.kind == DeviceKind::kGpu && gpu == nullptr) gpu = &device;
  }
  static const protocol::DeviceFacts imagined{.kind = DeviceKind::kGpu,
                                              .key = std::string(record::setting_of(DeviceKind::kGpu)),
                                              .name = "a GPU",
                                              .memory = 0,
                                              .free_memory = 0};
  if (record::names_gpu(key) && gpu == nullptr && planner()) return &imagined;
  if (key == "auto") return gpu != nullptr ? gpu : cpu;
  return record::names_gpu(key) ? gpu : cpu;
}

void Machine::start_cuda() {
  if (cuda_ == nullptr) {
    driver_ = nvml::Driver::open();
    std::array<char, 32> pci{};
    const bool found = driver_ && cudaDeviceGetPCIBusId(pci.data(), pci.size(), kDevice) == cudaSuccess &&
                       driver_->select(std::string(pci.data()));
    if (!found) driver_.reset();
    cuda_ = &CudaProbe::install(sink_, kDevice);
    listening_ = cuda_allocator::listen_on_this_thread(*cuda_);
  }
  if (clock_ == nullptr) clock_ = std::make_unique<DeviceClock>();
}

Probe& Machine::probe(DeviceKind kind) {
  if (planner()) {
    probes_.meta->set_target(kind);
    return *probes_.meta;
  }
  if (kind == DeviceKind::kGpu) return *cuda_;
  return *probes_.cpu;
}

Machine::AllocatorGuard::AllocatorGuard(Machine& machine, DeviceKind kind, Bytes cap, bool expandable_segments)
    : machine_(machine) {
  if (machine_.planner()) return;
  if (kind == DeviceKind::kGpu) {
    cuda_allocator::use_expandable_segments(expandable_segments);
    machine_.cuda_->set_cap(cap);
    if (cap != 0) cuda_.emplace(cap, kDevice);
  } else {
    const Bytes free = machine_.host_memory();
    machine_.cpu_cap_ = cap;
    machine_.cpu_limit_ = free == 0 ? 0 : machine_.live_bytes(kind) + free;
    machine_.keeps_on_host(0);
  }
}

Machine::AllocatorGuard::~AllocatorGuard() {
  machine_.cpu_cap_ = machine_.cpu_limit_ = 0;
  if (machine_.probes_.cpu != nullptr) machine_.keeps_on_host(0);
  if (machine_.cuda_ != nullptr) machine_.cuda_->set_cap(0);
}

void Machine::share_host(int processes) {
  sharers_ = processes;
  // One core is left for the app's window. A planner predicts memory for the same number of threads.
  at::set_num_threads(std::max(1, (cpu_cores() - 1) / processes));
}

Bytes Machine::host_memory() const {
  if (planner() || !facts_.available_memory) return 0;
  const Bytes free = facts_.available_memory();
  return (free - free / kPartLeftFree) / sharers_;
}

void Machine::keeps_on_host(Bytes bytes) {
  const Bytes left = cpu_limit_ == 0 ? 0 : std::max<Bytes>(cpu_limit_ - bytes, 1);
  if (probes_.cpu != nullptr) probes_.cpu->set_limits(cpu_cap_, left);
}

Bytes Machine::live_bytes(DeviceKind kind) const {
  if (planner()) return probes_.meta->live_bytes();
  if (kind == DeviceKind::kGpu) return cuda_ == nullptr ? 0 : cuda_allocator::stats(kDevice).allocated;
  return probes_.cpu->live_bytes();
}

Bytes Machine::peak_bytes(DeviceKind kind) const {
  return kind == DeviceKind::kGpu ? cuda_allocator::stats(kDevice).peak_allocated : probes_.cpu->peak_bytes();
}

void Machine::reset_peak(DeviceKind kind) {
  if (kind == DeviceKind::kGpu)
    cuda_allocator::reset_peaks(kDevice);
  else
    probes_.cpu->reset_peak();
}

bool Machine::clean_up(DeviceKind kind) {
  if (planner() || kind != DeviceKind::kGpu || cuda_ == nullptr) return true;
  // An error here means that the context is lost: every later call returns it again.
  if (cudaDeviceSynchronize() != cudaSuccess) return false;
  (void)cudaGetLastError();
  try {
    cuda_allocator::release_everything();
  } catch (const c10::Error&) {
    return false;
  }
  return cudaDeviceSynchronize() == cudaSuccess;
}

}  // namespace headroom::live
