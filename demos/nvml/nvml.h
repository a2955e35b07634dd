// A GPU's memory, utilization and power, from the driver. NVIDIA's management library is loaded at run time, without
// a CUDA context; it may be missing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "demos/record/units.h"

namespace headroom::nvml {

class Driver {
 public:
  // nullopt if libnvidia-ml.so.1 is missing or fails to initialize.
  static std::optional<Driver> open();

  // "580.159.04"
  std::string version() const;

  unsigned device_count() const;
  // Selects a GPU by CUDA's PCI address ("0000:1b:00.0") or by number.
  bool select(const std::string& pci_bus_id);
  bool select(unsigned index);
  std::string name() const;

  struct Memory {
    record::Bytes total = 0;
    record::Bytes free = 0;
    record::Bytes used = 0;
  };
  // Each is nullopt if the driver does not report it: containers hide processes, laptops hide power.
  std::optional<std::string> compute_capability() const;  // "9.0"
  std::optional<Memory> memory() const;
  std::optional<record::Bytes> process_bytes(std::uint32_t pid) const;
  std::optional<int> utilisation_percent() const;
  std::optional<std::int64_t> power_milliwatts() const;
  // True if this GPU can read the memory of another one directly.
  std::optional<bool> reaches(unsigned other) const;
  // Active NVLinks; 0 also if the driver does not report them.
  int nvlinks() const;

 private:
  Driver() = default;
  template <class... Arguments>
  int call(const char* function, Arguments... arguments) const;

  struct Close {
    void operator()(void* library) const;
  };
  std::unique_ptr<void, Close> library_;
  void* device_ = nullptr;
};

}  // namespace headroom::nvml
