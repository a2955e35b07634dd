// Types and constants are from nvml.h (CUDA 13.0). NVML gives a changed function a new suffix.
#include "demos/nvml/nvml.h"

#include <array>
#include <utility>
#include <vector>

#include <dlfcn.h>

namespace headroom::nvml {

namespace {

using Return = int;  // nvmlReturn_t
constexpr Return kSuccess = 0;
constexpr Return kInsufficientSize = 7;

struct MemoryInfo {  // nvmlMemory_t
  unsigned long long total, free, used;
};
struct UtilizationInfo {  // nvmlUtilization_t
  unsigned gpu, memory;
};
struct ProcessInfo {  // nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3
  unsigned pid;
  unsigned long long used_gpu_memory;
  unsigned gpu_instance, compute_instance;
};
constexpr unsigned long long kNotAvailable = ~0ull;

}  // namespace

template <class Function>
Function Driver::find(const char* name) const {
  return reinterpret_cast<Function>(dlsym(handle_, name));
}

std::optional<Driver> Driver::open() {
  Driver driver;
  driver.handle_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver.handle_ == nullptr) return std::nullopt;
  const auto init = driver.find<Return (*)()>("nvmlInit_v2");
  if (init == nullptr || init() != kSuccess) {
    dlclose(std::exchange(driver.handle_, nullptr));
    return std::nullopt;
  }
  return driver;
}

Driver::Driver(Driver&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), device_(std::exchange(other.device_, nullptr)) {}

Driver& Driver::operator=(Driver&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(device_, other.device_);
  return *this;
}

Driver::~Driver() {
  if (handle_ == nullptr) return;
  if (const auto shutdown = find<Return (*)()>("nvmlShutdown")) shutdown();
  dlclose(handle_);
}

std::string Driver::version() const {
  std::array<char, 96> text{};
  const auto ask = find<Return (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
  if (ask == nullptr || ask(text.data(), text.size() - 1) != kSuccess) return {};
  return text.data();
}

unsigned Driver::device_count() const {
  unsigned count = 0;
  const auto ask = find<Return (*)(unsigned*)>("nvmlDeviceGetCount_v2");
  return ask != nullptr && ask(&count) == kSuccess ? count : 0;
}

bool Driver::select(const std::string& pci_bus_id) {
  const auto ask = find<Return (*)(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
  return ask != nullptr && ask(pci_bus_id.c_str(), &device_) == kSuccess;
}

bool Driver::select(unsigned index) {
  const auto ask = find<Return (*)(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
  return ask != nullptr && ask(index, &device_) == kSuccess;
}

std::string Driver::name() const {
  std::array<char, 128> text{};
  const auto ask = find<Return (*)(void*, char*, unsigned)>("nvmlDeviceGetName");
  if (ask == nullptr || ask(device_, text.data(), text.size() - 1) != kSuccess) return {};
  return text.data();
}

std::optional<std::string> Driver::compute_capability() const {
  int major = 0, minor = 0;
  const auto ask = find<Return (*)(void*, int*, int*)>("nvmlDeviceGetCudaComputeCapability");
  if (ask == nullptr || ask(device_, &major, &minor) != kSuccess) return std::nullopt;
  return std::to_string(major) + "." + std::to_string(minor);
}

std::optional<Driver::Memory> Driver::memory() const {
  MemoryInfo info{};
  const auto ask = find<Return (*)(void*, MemoryInfo*)>("nvmlDeviceGetMemoryInfo");
  if (ask == nullptr || ask(device_, &info) != kSuccess) return std::nullopt;
  return Memory{.total = static_cast<record::Bytes>(info.total),
                .free = static_cast<record::Bytes>(info.free),
                .used = static_cast<record::Bytes>(info.used)};
}

std::optional<record::Bytes> Driver::process_bytes(std::uint32_t pid) const {
  const auto ask = find<Return (*)(void*, unsigned*, ProcessInfo*)>("nvmlDeviceGetComputeRunningProcesses_v3");
  if (ask == nullptr) return std::nullopt;
  std::vector<ProcessInfo> processes(32);
  unsigned count = processes.size();
  Return answer = ask(device_, &count, processes.data());
  if (answer == kInsufficientSize) {
    processes.resize(count + 8);  // others may start meanwhile
    count = processes.size();
    answer = ask(device_, &count, processes.data());
  }
  if (answer != kSuccess) return std::nullopt;
  for (unsigned i = 0; i < count && i < processes.size(); ++i) {
    if (processes[i].pid == pid && processes[i].used_gpu_memory != kNotAvailable) {
      return static_cast<record::Bytes>(processes[i].used_gpu_memory);
    }
  }
  return std::nullopt;
}

std::optional<int> Driver::utilisation_percent() const {
  UtilizationInfo info{};
  const auto ask = find<Return (*)(void*, UtilizationInfo*)>("nvmlDeviceGetUtilizationRates");
  if (ask == nullptr || ask(device_, &info) != kSuccess) return std::nullopt;
  return static_cast<int>(info.gpu);
}

std::optional<std::int64_t> Driver::power_milliwatts() const {
  unsigned milliwatts = 0;
  const auto ask = find<Return (*)(void*, unsigned*)>("nvmlDeviceGetPowerUsage");
  if (ask == nullptr || ask(device_, &milliwatts) != kSuccess) return std::nullopt;
  return milliwatts;
}

}  // namespace headroom::nvml
