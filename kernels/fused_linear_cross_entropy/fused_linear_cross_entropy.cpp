// The layout of the scratch memory, the same on every device.
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"

#include "kernels/fused_linear_cross_entropy/parts.h"

namespace headroom::kernels {

FlceScratchPlan flce_scratch_plan(const FlceProblem& problem) {
  constexpr std::int64_t kAlign = 256;
  FlceScratchPlan plan;
  std::int64_t end = 0;
  const auto take = [&](std::int64_t bytes) {
    const std::int64_t begin = end;
    end = (end + bytes + kAlign - 1) / kAlign * kAlign;
    return begin;
  };
  const std::int64_t tokens = problem.tokens;
  plan.scalars = take(sizeof(FlceScalars));
  plan.row_loss = take(tokens * 4);
  if (problem.mode == FlceMode::kLean) plan.slice_parts = take(tokens * 16);
  if (flce_gathers(problem)) {
    plan.rows = take(problem.valid_count * 8);
    plan.row_targets = take(problem.valid_count * 8);
    plan.gathered = take(flce_step(problem) * problem.hidden * bytes_of(problem.storage));
  }
  plan.bytes = end;
  return plan;
}

std::int64_t flce_scratch_bytes(const FlceProblem& problem) { return flce_scratch_plan(problem).bytes; }

}  // namespace headroom::kernels
