// What `bench` measures, in order: kernels with their shapes. No torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demos/record/schema.h"
#include "demos/record/units.h"
#include "kernels/kernel.h"

namespace headroom::experiments {

// One kernel at one shape.
struct BenchCase {
  std::string panel;    // the kernel's id; "report.<id>" with the shapes and modules of the report
  std::string kernel;   // as in `headroom list`
  std::string storage;  // "fp32", "bf16", "fp16"
  std::string label;    // "Llama 3.2 1B"; empty where the numbers say it
  kernels::Shape shape;

  bool of_report() const { return panel != kernel; }
};

// `device` decides sizes and the storage of storage=auto: what takes a GPU a millisecond takes a laptop a minute.
std::vector<BenchCase> bench_plan(const record::Params& params, record::DeviceKind device);

// The measured kernels in the order of their catalogue, for a parameter: those of which `offered` is true, behind "all"
// where that is wanted.
std::vector<record::Choice> kernel_choices(bool with_all, bool (*offered)(const kernels::KernelBench& bench) = nullptr);

}  // namespace headroom::experiments
