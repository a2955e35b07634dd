// Arguments of the row norms (RMSNorm with and without a residual, LayerNorm). CPU functions process rows [begin, end)
// forward, and part `part` of `parts` backward.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/storage.h"

namespace headroom::kernels {

enum class NormKind : std::uint8_t { kRms, kAddRms, kLayer, kRebuildRms };

// Absent tensors are null. Memory is contiguous, [rows, width] or [width], in `storage`.
struct NormForward {
  Storage storage;
  std::int64_t rows, width;
  float epsilon;
  const void* x;
  const void* residual;  // added to x before the norm
  const void* weight;    // [width]
  const void* bias;      // [width]; LayerNorm
  void* sum;             // x + residual, rounded to storage: the input of the norm
  void* y;
  float* mean;  // [rows]; LayerNorm
  float* rstd;  // [rows]; 1 / √(mean square + ε); an input when y is rebuilt
};

// `dx` may be `dy`.
struct NormBackward {
  Storage storage;
  std::int64_t rows, width;
  const void* dy;
  const void* x;
  const void* weight;
  const void* d_sum;  // added to dx; optional
  const float* mean;  // LayerNorm
  const float* rstd;
  void* dx;
  void* dweight;
  void* dbias;              // LayerNorm
  float* dweight_partials;  // [partial_rows(rows), width]
  float* dbias_partials;    // the same; LayerNorm
};

// Rows of partial sums of the parameters' gradients, one per thread block. Their number does not depend on the device,
// so a plan on meta is exact: 132 multiprocessors use up to 264 rows, 160 all 320.
inline constexpr std::int64_t kMostPartialRows = 320;
constexpr std::int64_t partial_rows(std::int64_t rows) { return std::min(rows, kMostPartialRows); }

// The number of parts does not depend on the number of threads, so every machine gives the same bits.
constexpr std::int64_t cpu_parts(std::int64_t rows) { return std::min<std::int64_t>(rows, 64); }

// Sums partial rows into columns [begin, end) of dweight and dbias.
void column_sums_cpu(const NormBackward& norm, std::int64_t parts, std::int64_t begin, std::int64_t end);

}  // namespace headroom::kernels
