// Types and constants are from nvml.h (CUDA 13.0). NVML gives a changed function a new suffix.
#include "demos/nvml/nvml.h"

#include <array>
#include <vector>

#include <dlfcn.h>

namespace headroom::nvml {

namespace {

constexpr int kSuccess = 0, kInsufficientSize = 7, kFunctionNotFound = 13;  // nvmlReturn_t

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
constexpr int kReads = 0;        // nvmlGpuP2PCapsIndex_t
constexpr unsigned kLinks = 18;  // NVML_NVLINK_MAX_LINKS

}  // namespace

// NVML's answer; kFunctionNotFound if this driver lacks the function.
template <class... Arguments>
int Driver::call(const char* function, Arguments... arguments) const {
  const auto found = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_.get(), function));
  return found == nullptr ? kFunctionNotFound : found(arguments...);
}

void Driver::Close::operator()(void* library) const {
  if (const auto shutdown = reinterpret_cast<int (*)()>(dlsym(library, "nvmlShutdown"))) shutdown();
  dlclose(library);
}

std::optional<Driver> Driver::open() {
  Driver driver;
  driver.library_.reset(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
  if (driver.library_ == nullptr || driver.call("nvmlInit_v2") != kSuccess) return std::nullopt;
  return driver;
}

std::string Driver::version() const {
  std::array<char, 96> text{};
  const bool known = call("nvmlSystemGetDriverVersion", text.data(), unsigned{text.size() - 1}) == kSuccess;
  return known ? text.data() : "";
}

unsigned Driver::device_count() const {
  unsigned count = 0;
  return call("nvmlDeviceGetCount_v2", &count) == kSuccess ? count : 0;
}

bool Driver::select(const std::string& pci_bus_id) {
  return call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &device_) == kSuccess;
}

bool Driver::select(unsigned index) { return call("nvmlDeviceGetHandleByIndex_v2", index, &device_) == kSuccess; }

std::string Driver::name() const {
  std::array<char, 128> text{};
  const bool known = call("nvmlDeviceGetName", device_, text.data(), unsigned{text.size() - 1}) == kSuccess;
  return known ? text.data() : "";
}

std::optional<std::string> Driver::compute_capability() const {
  int major = 0, minor = 0;
  if (call("nvmlDeviceGetCudaComputeCapability", device_, &major, &minor) != kSuccess) return std::nullopt;
  return std::to_string(major) + "." + std::to_string(minor);
}

std::optional<Driver::Memory> Driver::memory() const {
  MemoryInfo info{};
  if (call("nvmlDeviceGetMemoryInfo", device_, &info) != kSuccess) return std::nullopt;
  return Memory{.total = static_cast<record::Bytes>(info.total),
                .free = static_cast<record::Bytes>(info.free),
                .used = static_cast<record::Bytes>(info.used)};
}

std::optional<record::Bytes> Driver::process_bytes(std::uint32_t pid) const {
  constexpr const char* kAsk = "nvmlDeviceGetComputeRunningProcesses_v3";
  std::vector<ProcessInfo> processes(32);
  unsigned count = processes.size();
  int answer = call(kAsk, device_, &count, processes.data());
  if (answer == kInsufficientSize) {
    processes.resize(count + 8);  // other processes may start meanwhile
    count = processes.size();
    answer = call(kAsk, device_, &count, processes.data());
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
  if (call("nvmlDeviceGetUtilizationRates", device_, &info) != kSuccess) return std::nullopt;
  return static_cast<int>(info.gpu);
}

std::optional<std::int64_t> Driver::power_milliwatts() const {
  unsigned milliwatts = 0;
  if (call("nvmlDeviceGetPowerUsage", device_, &milliwatts) != kSuccess) return std::nullopt;
  return milliwatts;
}

std::optional<bool> Driver::reaches(unsigned other) const {
  void* device = nullptr;
  int status = 0;  // nvmlGpuP2PStatus_t
  if (call("nvmlDeviceGetHandleByIndex_v2", other, &device) != kSuccess ||
      call("nvmlDeviceGetP2PStatus", device_, device, kReads, &status) != kSuccess)
    return std::nullopt;
  return status == 0;
}

int Driver::nvlinks() const {
  int links = 0;
  for (unsigned link = 0; link < kLinks; ++link) {
    int active = 0;  // nvmlEnableState_t
    if (call("nvmlDeviceGetNvLinkState", device_, link, &active) == kSuccess && active == 1) ++links;
  }
  return links;
}

}  // namespace headroom::nvml
