// Estimates how long a run will take.
#pragma once

#include <optional>

#include "demos/predict/step_settings.h"

namespace headroom::app::page {

// FLOPs of all steps without recomputation: 6 per parameter and token, plus 12·L·A·D·T per token for attention's
// scores (Kaplan et al. 2020, section 2.1). 1B, 4 × 1,024 tokens, 3 steps: 96 TFLOP.
double run_flops(const predict::StepSettings& settings);

// Assumed until a run has finished: FLOP/s of a CPU core in fp32, and the slowdown of 16 bits without instructions for
// them. The order of magnitude decides whether Run asks for confirmation.
inline constexpr double kCoreRate = 30e9;
inline constexpr double kSixteenBitSlowdown = 3;

}  // namespace headroom::app::page
