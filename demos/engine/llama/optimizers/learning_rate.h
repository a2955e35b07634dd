// The learning rate per step, as in Hugging Face's transformers (transformers/optimization.py:
// get_constant_schedule_with_warmup, get_linear_schedule_with_warmup, get_cosine_schedule_with_warmup).
#pragma once

#include <cstdint>

#include "demos/predict/techniques.h"

namespace headroom::llama {

struct RateSchedule {
  predict::Schedule kind = predict::Schedule::kConstant;
  double peak = 1e-3;             // η, after the warm-up
  std::int64_t warmup_steps = 0;  // W
};

// The rate of step s, counted from 0, in a schedule of N steps: η s / W while s < W; then, with p = (s − W) / (N − W),
// η, η (1 − p) or η (1 + cos(π p)) / 2. After N a decayed rate stays 0, where a cosine would rise again. The first step
// of a warm-up has rate 0. Skipped steps count.
double rate_of_step(const RateSchedule& schedule, std::int64_t s, std::int64_t n);

}  // namespace headroom::llama
