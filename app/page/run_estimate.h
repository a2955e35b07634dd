// How long a run will take, before it runs.
#pragma once

#include <optional>

#include "demos/predict/step_settings.h"

namespace headroom::app::page {

// Of all its steps, without what is computed again: 6 FLOPs per parameter and token, and 12·L·A·D·T per token for
// attention's scores (Kaplan et al. 2020, section 2.1). 1B, 4 × 1,024 tokens, 3 steps: 96 TFLOP.
double run_flops(const predict::StepSettings& settings);

// FLOPs per second that a core of a CPU reaches in such a step in fp32, to a factor of about two; as measured on cores
// with AVX2. 16-bit arithmetic is slower there: it is not in the instruction set.
inline constexpr double kCoreRate = 30e9;
inline constexpr double kSixteenBitSlowdown = 3;

}  // namespace headroom::app::page
