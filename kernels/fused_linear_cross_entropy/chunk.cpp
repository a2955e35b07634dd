// Chunk rules of the fused linear cross entropy.
#include "kernels/fused_linear_cross_entropy/chunk.h"

#include <algorithm>
#include <bit>

namespace headroom::kernels {

namespace {

constexpr std::int64_t kLeanSliceBytes = std::int64_t{76} << 20;
constexpr std::int64_t kSliceColumns = 128;  // width of a GEMM tile, of which slices are a multiple
constexpr std::int64_t kRowStep = 8;         // 16 bytes of 16-bit elements

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t value, std::int64_t step) { return ceil_divide(value, step) * step; }

}  // namespace

std::int64_t flce_default_chunk(FlceMode mode, std::int64_t tokens, std::int64_t hidden, std::int64_t vocab,
                                std::int64_t element_bytes, bool fp32_weight_gradient) {
  const std::int64_t rows = std::max<std::int64_t>(tokens, 1);
  switch (mode) {
    case FlceMode::kReport: {
      const std::int64_t part = ceil_divide(rows, ceil_divide(vocab, hidden));
      return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(part)));
    }
    case FlceMode::kLean: {
      const std::int64_t columns = kLeanSliceBytes / (element_bytes * rows) / kSliceColumns * kSliceColumns;
      return std::min(std::max(columns, kSliceColumns), vocab);
    }
    case FlceMode::kChunked:
      break;
  }
  return std::min<std::int64_t>(rows, fp32_weight_gradient ? 2048 : 1024);
}

bool flce_gathers(const FlceProblem& problem) {
  return problem.mode != FlceMode::kLean && problem.valid_count >= 0 && problem.valid_count < problem.tokens;
}

std::int64_t flce_rows(const FlceProblem& problem) {
  return flce_gathers(problem) ? problem.valid_count : problem.tokens;
}

std::int64_t flce_step(const FlceProblem& problem) {
  const bool own = problem.chunk > 0 && problem.mode != FlceMode::kReport;
  const std::int64_t chunk = own ? problem.chunk
                                 : flce_default_chunk(problem.mode, problem.tokens, problem.hidden, problem.vocab,
                                                      bytes_of(problem.storage), problem.fp32_weight_gradient);
  if (problem.mode == FlceMode::kLean) return std::min(chunk, problem.vocab);
  const std::int64_t rows = std::max<std::int64_t>(flce_rows(problem), 1);
  const std::int64_t most = std::min(chunk, rows);
  if (problem.mode == FlceMode::kReport) return most;
  // Chunks of similar sizes avoid reading and writing dW for a few last rows. 5000 rows by at most 1024: five chunks of
  // 1000.
  return std::min(round_up(ceil_divide(rows, ceil_divide(rows, most)), kRowStep), most);
}

std::int64_t flce_logits_stride(const FlceProblem& problem) {
  return round_up(problem.mode == FlceMode::kLean ? flce_step(problem) : problem.vocab, kRowStep);
}

std::int64_t flce_logits_bytes(const FlceProblem& problem) {
  const std::int64_t rows = problem.mode == FlceMode::kLean ? problem.tokens : flce_step(problem);
  return rows * flce_logits_stride(problem) * bytes_of(problem.storage);
}

}  // namespace headroom::kernels
