// The kernels and shapes that `bench` measures, in order. No torch.
#pragma once

#include <string>
#include <vector>

#include "demos/record/schema.h"
#include "demos/record/units.h"
#include "kernels/kernel.h"

namespace headroom::experiments {

struct BenchCase {
  std::string panel;  // kernel id; "report.<id>" for the report's shapes and modules
  std::string kernel;
  std::string storage;  // "fp32", "bf16", "fp16"
  std::string label;    // "Llama 3.2 1B"; empty if the shape suffices
  kernels::Shape shape;

  bool of_report() const { return panel != kernel; }
};

// A millisecond on a GPU is a minute on a laptop, so sizes and storage=auto depend on the device.
std::vector<BenchCase> bench_plan(const record::Params& params, record::DeviceKind device);

// Only kernels for which `offered` is true, in catalogue order.
std::vector<record::Choice> kernel_choices(bool with_all, bool (*offered)(const kernels::KernelBench& bench) = nullptr);

}  // namespace headroom::experiments
