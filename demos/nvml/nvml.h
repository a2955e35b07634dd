// What the driver says about a GPU as a whole: memory of this process and of all, utilization, power. Through NVIDIA's
// management library, looked for at run time (no CUDA context); a machine without it is a normal machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "demos/record/units.h"

namespace headroom::nvml {

class Driver {
 public:
  // Opens libnvidia-ml.so.1; empty if it is absent or does not start.
  static std::optional<Driver> open();
  Driver(Driver&& other) noexcept;
  Driver& operator=(Driver&& other) noexcept;
  ~Driver();

  // "580.159.04"
  std::string version() const;

  unsigned device_count() const;
  // A device by its PCI address as CUDA names it ("0000:1b:00.0"), or by its number among all of the machine.
  bool select(const std::string& pci_bus_id);
  bool select(unsigned index);
  std::string name() const;

  struct Memory {
    record::Bytes total = 0;
    record::Bytes free = 0;
    record::Bytes used = 0;
  };
  // Each is empty if the driver does not report it (containers hide processes, laptops hide power).
  std::optional<std::string> compute_capability() const;  // "9.0"
  std::optional<Memory> memory() const;
  std::optional<record::Bytes> process_bytes(std::uint32_t pid) const;
  std::optional<int> utilisation_percent() const;
  std::optional<std::int64_t> power_milliwatts() const;

 private:
  Driver() = default;
  template <class Function>
  Function find(const char* name) const;

  void* handle_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace headroom::nvml
