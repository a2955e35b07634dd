// The learning rate from step to step, as Hugging Face's transformers works it out (transformers/optimization.py:
// get_constant_schedule_with_warmup, get_linear_schedule_with_warmup, get_cosine_schedule_with_warmup).
#pragma once

#include <cstdint>

#include "demos/predict/techniques.h"

namespace headroom::llama {

struct RateSchedule {
  predict::Schedule kind = predict::Schedule::kConstant;
  double peak = 1e-3;             // η, right behind the warm-up
  std::int64_t warmup_steps = 0;  // W
};

// Of step s, counted from 0, of a schedule that ends behind N steps: η s / W while s < W; then, with
// p = (s − W) / (N − W), η, η (1 − p) or η (1 + cos π p) / 2. Behind N the rate stays 0, where a cosine would rise again.
// The first step of a warm-up has the rate 0. A step that is skipped for an overflow counts.
double rate_of_step(const RateSchedule& schedule, std::int64_t s, std::int64_t n);

}  // namespace headroom::llama
