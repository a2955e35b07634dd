// The chunk rules of the fused linear cross entropy.
#include "kernels/fused_linear_cross_entropy/chunk.h"

#include <algorithm>
#include <bit>

namespace headroom::kernels {

namespace {

constexpr std::int64_t kLeanSliceBytes = std::int64_t{76} << 20;
constexpr std::int64_t kSliceColumns = 128;  // slices are a multiple of this: the width of a product's tile

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

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

}  // namespace headroom::kernels
