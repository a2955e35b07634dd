// Closed form of the optimizers' memory, one row each: state, and scratch memory of a step.
#pragma once

#include <cstdint>

#include "demos/predict/step_settings.h"
#include "demos/record/units.h"
#include "kernels/adamw_8bit/adamw_8bit.h"

namespace headroom::predict {

struct OptimizerForm {
  OptimizerKind kind = OptimizerKind::kAdamW;
  // Moments and projections of all trained weights, without masters.
  record::Bytes (*moments)(const StepSettings& step) = nullptr;
  // Scratch memory for the largest weight.
  record::Bytes (*scratch)(const StepSettings& step) = nullptr;
  bool one_byte = false;       // a byte per moment
  bool low_rank = false;       // moments of projected gradients, whose projections are computed in some steps only
  bool paged = false;          // state in managed memory
  bool copies_moment = false;  // copies the second moments of weights updated together
};
const OptimizerForm& form_of(OptimizerKind kind);

// Two moments of one byte, each with a 4-byte absmax per block; the last block may be shorter. Blocks of 256: 2.031 B
// per parameter.
record::Bytes moments_8bit_bytes(std::int64_t parameters, std::int64_t block = kernels::kQuantisedBlock);
// Elements for a matrix m × n with the smaller side projected to r: two moments r × max(m, n) and a projection r ×
// min(m, n). 2048 × 8192 at r = 512: 9,437,184 instead of 2 × 16,777,216.
std::int64_t galore_elements(std::int64_t rows, std::int64_t columns, std::int64_t rank);
// For all layers' projections.
std::int64_t galore_elements(const StepSettings& step);

// Masters, moments and projections of trained weights, wherever they are. 1B in bf16_mixed: 12 P.
record::Bytes optimizer_state_bytes(const StepSettings& step);
// Excludes managed memory.
record::Bytes optimizer_state_on_device(const StepSettings& step);
// Scratch memory while `updated` weights, among them the largest, are updated together. PyTorch's operators: fp32
// gradient and denominator of one weight; foreach: a copy of all second moments. Histogram: a copy of one weight.
// GaLore: the fp32 matrix, its projected gradient and update. 0 with offload.
record::Bytes optimizer_scratch_bytes(const StepSettings& step, std::int64_t updated);
// The part of optimizer_scratch_bytes() that grows with `updated`.
record::Bytes copied_moment_bytes(const StepSettings& step, std::int64_t updated);

}  // namespace headroom::predict
