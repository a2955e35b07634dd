// What NVIDIA's driver says, asked through its management library (loaded at run time; no CUDA context).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demos/record/units.h"

namespace headroom::app {

struct GpuFacts {
  std::string name;
  record::Bytes memory = 0;
  record::Bytes free_memory = 0;
};

struct DriverFacts {
  std::string version;  // "580.82.07"
  std::vector<GpuFacts> gpus;
};

// Empty where there is no driver, or one that does not answer; that is a normal state.
std::optional<DriverFacts> ask_driver();

}  // namespace headroom::app
