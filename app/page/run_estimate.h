// How long a run will take, before it runs.
#pragma once

#include <optional>

#include "demos/predict/step_settings.h"

namespace headroom::app::page {

// Of all its steps, without what is computed again: 6 FLOPs per parameter and token, and 12·L·A·D·T per token for
// attention's scores (Kaplan et al. 2020, section 2.1). 1B, 4 × 1,024 tokens, 3 steps: 96 TFLOP.
double run_flops(const predict::StepSettings& settings);

// Assumed until a run here has shown its speed: FLOPs per second of a CPU's core in such a step in fp32, and how much slower
// 16 bits are where the instruction set lacks them. Only the order of magnitude matters: it decides whether Run asks.
inline constexpr double kCoreRate = 30e9;
inline constexpr double kSixteenBitSlowdown = 3;

}  // namespace headroom::app::page
