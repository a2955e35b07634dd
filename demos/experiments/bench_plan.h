// What `bench` measures, in order: kernels with their shapes. No torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::experiments {

// One kernel at one shape. Letters as kernels::Shape; RoPE and the MLPs need more to be distinguished.
struct BenchCase {
  std::string panel;    // the kernel's id; "report.<id>" with the shapes and modules of the report
  std::string kernel;   // as in `headroom list`
  std::string storage;  // "fp32", "bf16", "fp16"
  std::string label;    // "Llama 3.2 1B"; empty where the numbers say it
  std::int64_t rows = 0, width = 0, vocab = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;  // RoPE
  std::int64_t batch = 0, hidden = 0;                  // the report's MLPs: rows = batch · T, width = F

  bool of_report() const { return panel != kernel; }
};

// `device` decides sizes and the storage of storage=auto: what takes a GPU a millisecond takes a laptop a minute.
std::vector<BenchCase> bench_plan(const record::Params& params, record::DeviceKind device);

}  // namespace headroom::experiments
