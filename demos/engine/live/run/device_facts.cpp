// Looks up devices and versions.
#include "demos/engine/live/run/device_facts.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>
#include <sched.h>
#include <torch/version.h>

#include "demos/engine/live/probes/host_memory.h"
#include "demos/nvml/nvml.h"
#include "headroom_build.h"

namespace headroom::live {

using record::Bytes;

namespace {

protocol::DeviceFacts cpu_facts() {
  protocol::DeviceFacts cpu;
  cpu.kind = record::DeviceKind::kCpu;
  cpu.key = "cpu";
  cpu.name = fmt::format("CPU, {} {}", cpu_cores(), cpu_cores() == 1 ? "core" : "cores");
  const HostMemory memory = host_memory();
  cpu.memory = memory.total;
  cpu.free_memory = memory.available;
  return cpu;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

// 13000 → "13.0"
std::string cuda_version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

void add_gpus(MachineFacts& machine) {
  std::optional<nvml::Driver> driver = nvml::Driver::open();
  if (driver) machine.facts["driver"] = driver->version();
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0)
    machine.facts["driver_cuda"] = cuda_version(version);
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    (void)cudaGetLastError();
    // Without a driver or a GPU an error is normal; the doctor reports all others.
    if (version > 0 && error != cudaErrorNoDevice) machine.facts["gpu_trouble"] = cudaGetErrorString(error);
    return;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    protocol::DeviceFacts gpu;
    gpu.kind = record::DeviceKind::kGpu;
    gpu.key = i == 0 ? std::string(record::setting_of(record::DeviceKind::kGpu)) : fmt::format("cuda:{}", i);
    gpu.name = properties.name;
    gpu.memory = static_cast<Bytes>(properties.totalGlobalMem);
    gpu.free_memory = gpu.memory;
    std::array<char, 32> pci{};
    if (driver && cudaDeviceGetPCIBusId(pci.data(), pci.size(), i) == cudaSuccess && driver->select(pci.data())) {
      if (const auto memory = driver->memory()) gpu.free_memory = std::max<Bytes>(gpu.memory - memory->used, 0);
    }
    if (i == 0) {
      machine.facts["gpu"] = properties.name;
      machine.facts["compute_capability"] = fmt::format("{}.{}", properties.major, properties.minor);
    }
    machine.devices.push_back(std::move(gpu));
  }
}

}  // namespace

int cpu_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return std::max(1, CPU_COUNT(&allowed));
}

void add_planned_devices(MachineFacts& machine) {
  std::optional<nvml::Driver> driver = nvml::Driver::open();
  if (!driver || !driver->select(0u)) return;
  const auto memory = driver->memory();
  machine.facts["driver"] = driver->version();
  machine.facts["gpu"] = driver->name();
  if (const auto capability = driver->compute_capability()) machine.facts["compute_capability"] = *capability;
  machine.devices.push_back({.kind = record::DeviceKind::kGpu,
                             .key = std::string(record::setting_of(record::DeviceKind::kGpu)),
                             .name = driver->name(),
                             .memory = memory ? memory->total : 0,
                             .free_memory = memory ? memory->total - memory->used : 0});
}

MachineFacts machine_facts(bool look_for_gpu) {
  MachineFacts machine;
  machine.available_memory = [] { return host_memory().available; };
  machine.devices.push_back(cpu_facts());
  machine.facts = {
      {"cpu", cpu_model()},
      {"cuda", cuda_version(CUDART_VERSION)},
      {"revision", std::string(build::revision())},
      {"nccl", fmt::format("{}.{}.{}", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH)},
      {"torch", TORCH_VERSION},
      {"version", std::string(build::kVersion)},
  };
  for (const char* name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "CUBLAS_WORKSPACE_CONFIG"}) {
    if (const char* value = std::getenv(name)) machine.facts[name] = value;
  }
  if (std::string pages = large_pages(); !pages.empty()) machine.facts["large_pages"] = std::move(pages);
  if (look_for_gpu) add_gpus(machine);
  return machine;
}

}  // namespace headroom::live
