// How the fused linear cross entropy cuts its work into parts, and what memory that takes: the same on every device.
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"

#include <algorithm>

#include "kernels/fused_linear_cross_entropy/parts.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kRowStep = 8;  // 16 bytes of 16-bit elements

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t value, std::int64_t step) { return ceil_divide(value, step) * step; }

}  // namespace

bool flce_gathers(const FlceProblem& problem) {
  return problem.mode != FlceMode::kLean && problem.valid_count >= 0 && problem.valid_count < problem.tokens;
}

std::int64_t flce_rows(const FlceProblem& problem) {
  return flce_gathers(problem) ? problem.valid_count : problem.tokens;
}

std::int64_t flce_step(const FlceProblem& problem) {
  if (problem.mode == FlceMode::kLean) return std::min(problem.chunk, problem.vocab);
  const std::int64_t rows = std::max<std::int64_t>(flce_rows(problem), 1);
  const std::int64_t most = std::min(problem.chunk, rows);
  if (problem.mode == FlceMode::kReport) return most;
  // Chunks of like size, so that the last is not a few rows for which dW is read and written all the same. 5000 rows by
  // 1024: five chunks of 1000.
  return std::min(round_up(ceil_divide(rows, ceil_divide(rows, most)), kRowStep), most);
}

std::int64_t flce_logits_stride(const FlceProblem& problem) {
  return round_up(problem.mode == FlceMode::kLean ? flce_step(problem) : problem.vocab, kRowStep);
}

std::int64_t flce_logits_bytes(const FlceProblem& problem) {
  const std::int64_t rows = problem.mode == FlceMode::kLean ? problem.tokens : flce_step(problem);
  return rows * flce_logits_stride(problem) * bytes_of(problem.storage);
}

FlceScratchPlan flce_scratch_plan(const FlceProblem& problem) {
  constexpr std::int64_t kAlign = 256;
  FlceScratchPlan plan;
  std::int64_t end = 0;
  const auto take = [&](std::int64_t bytes) {
    const std::int64_t begin = end;
    end = round_up(end + bytes, kAlign);
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
