// Draws configurations of the training step that cover every technique, precision and shape.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::app {

struct DrawOptions {
  std::uint32_t seed = 0;
  int count = 200;
  bool on_gpu = true;
  record::Bytes memory = 0;  // of the device; larger steps are drawn again
  // GEMM speeds in 16 bits and in fp32; at these speeds a drawn step takes at most `longest_step`.
  double flops_per_second = 0, fp32_flops_per_second = 0;
  double longest_step = 2;           // seconds
  double part_that_runs_out = 0.15;  // share of configurations with a cap below their peak
  int ranks = 1;  // of each run; with several, stages of ZeRO take turns, and two of five runs accumulate
};

// Batch 1 … 64, sequence 128 … 32,768 and log-uniform widths, a fifth of which are no multiples of 128. Models have 0.1
// to 8 billion parameters (on a CPU up to 30 million, and smaller steps). Each technique's values are drawn in turn and
// in pairs, with the settings that they need. Equal seeds give equal configurations.
std::vector<record::Params> draw_configurations(const DrawOptions& options);

// Up to `count` configurations of batch 1 with a cap between 8 and 24 GiB (a hundredth of that on a CPU) under which,
// by the closed form, some batches fit, but not all.
std::vector<record::Params> draw_borders(const DrawOptions& options, int count);

// The settings that differ from the defaults: "batch=4 precision=bf16 …".
std::string as_line(const record::Params& params);
// An error names the mistake.
record::Result<record::Params> from_line(std::string_view line);

}  // namespace headroom::app
