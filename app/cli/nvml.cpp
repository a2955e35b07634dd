// What NVIDIA's driver says.
#include "app/cli/nvml.h"

#include <dlfcn.h>

#include <array>
#include <memory>

namespace headroom::app {

namespace {

// The few entry points of nvml.h that are used; 0 is NVML_SUCCESS.
using Device = struct NvmlDevice*;
struct Memory {
  unsigned long long total, free, used;
};

template <class Function>
bool load(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;

  bool load_from(void* library) {
    return load(library, "nvmlInit_v2", init) && load(library, "nvmlShutdown", shutdown) &&
           load(library, "nvmlSystemGetDriverVersion", driver_version) &&
           load(library, "nvmlDeviceGetCount_v2", device_count) &&
           load(library, "nvmlDeviceGetHandleByIndex_v2", device) && load(library, "nvmlDeviceGetName", name) &&
           load(library, "nvmlDeviceGetMemoryInfo", memory);
  }
};

GpuFacts ask_gpu(const Nvml& nvml, Device device) {
  GpuFacts gpu;
  std::array<char, 96> name{};  // NVML_DEVICE_NAME_V2_BUFFER_SIZE
  if (nvml.name(device, name.data(), name.size()) == 0) gpu.name = name.data();
  if (Memory memory{}; nvml.memory(device, &memory) == 0) {
    gpu.memory = static_cast<record::Bytes>(memory.total);
    gpu.free_memory = static_cast<record::Bytes>(memory.free);
  }
  return gpu;
}

}  // namespace

std::optional<DriverFacts> ask_driver() {
  // ".so.1" is the driver's own; plain ".so" belongs to development packages.
  const std::unique_ptr<void, int (*)(void*)> library(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), dlclose);
  Nvml nvml;
  if (library == nullptr || !nvml.load_from(library.get()) || nvml.init() != 0) return std::nullopt;
  DriverFacts facts;
  std::array<char, 80> version{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
  if (nvml.driver_version(version.data(), version.size()) == 0) facts.version = version.data();
  unsigned count = 0;
  if (nvml.device_count(&count) != 0) count = 0;
  for (unsigned i = 0; i < count; ++i)
    if (Device device = nullptr; nvml.device(i, &device) == 0) facts.gpus.push_back(ask_gpu(nvml, device));
  nvml.shutdown();
  return facts;
}

}  // namespace headroom::app
