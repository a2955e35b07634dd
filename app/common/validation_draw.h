// Configurations of the training step, drawn so that every technique, precision and shape is among them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::app {

// What a draw is for.
struct DrawOptions {
  std::uint32_t seed = 0;
  int count = 200;
  bool on_gpu = true;
  record::Bytes memory = 0;  // of the device: what takes more is drawn again
  // Of products on the device, in 16 bits and in fp32: with them, a step takes at most `longest_step`.
  double flops_per_second = 0, fp32_flops_per_second = 0;
  double longest_step = 2;           // seconds
  double part_that_runs_out = 0.15;  // of the configurations get a cap below what they take
};

// Batch 1 … 64, sequence 128 … 32,768 and widths log-uniform, a fifth of the widths no multiple of 128; shapes of 0.1 to 8
// billion parameters (on a CPU: 1 to 30 million); each value of each technique in turn, in pairs, and what they need.
// The same seed gives the same configurations.
std::vector<record::Params> draw_configurations(const DrawOptions& options);

// Of those, without their cap: `count` ones that a limit between 8 and 24 GiB (on a CPU a hundredth of it), which is their
// cap, lets run up to some batch, by the closed form. Their batch is 1. Fewer where there are no more.
std::vector<record::Params> draw_borders(const DrawOptions& options, int count);

// The settings that differ from the schema's defaults, "batch=4 precision=bf16 …": a line of a list.
std::string as_line(const record::Params& params);
// Back; an error names what is wrong.
record::Result<record::Params> from_line(std::string_view line);

}  // namespace headroom::app
