// Computes in transformers' order, so that the doubles are equal.
#include "demos/engine/llama/optimizers/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom::llama {

namespace {

// The rate relative to η.
double share(const RateSchedule& schedule, std::int64_t s, std::int64_t n) {
  const std::int64_t warmup = schedule.warmup_steps;
  if (s < warmup) return static_cast<double>(s) / static_cast<double>(warmup);
  const auto span = static_cast<double>(std::max<std::int64_t>(1, n - warmup));
  switch (schedule.kind) {
    case predict::Schedule::kLinear:
      return std::max(0.0, static_cast<double>(n - s) / span);
    case predict::Schedule::kCosine: {
      const double progress = std::min(1.0, static_cast<double>(s - warmup) / span);
      return std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * progress)));
    }
    case predict::Schedule::kConstant:
      break;
  }
  return 1;
}

}  // namespace

double rate_of_step(const RateSchedule& schedule, std::int64_t s, std::int64_t n) {
  return schedule.peak * share(schedule, s, n);
}

}  // namespace headroom::llama
