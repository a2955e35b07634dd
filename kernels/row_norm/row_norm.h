// What the norms of rows (RMSNorm with and without a residual, LayerNorm) have in common, on raw memory. No torch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/storage.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headroom::kernels {

enum class NormKind : std::uint8_t { kRms, kAddRms, kLayer, kRebuildRms };

// One forward pass. What a norm does not have stays null. Memory is contiguous, [rows, width] or [width], in `storage`.
struct NormForward {
  Storage storage;
  std::int64_t rows, width;
  float epsilon;
  const void* x;
  const void* residual;  // added to x before the norm
  const void* weight;    // [width]
  const void* bias;      // [width]; LayerNorm
  void* sum;             // x + residual, rounded to storage; the norm is of the rounded sum
  void* y;
  float* mean;  // [rows]; LayerNorm
  float* rstd;  // [rows]; 1 / √(mean square + ε); given, not made, where y is rebuilt
};

// One backward pass. `dx` may be `dy`.
struct NormBackward {
  Storage storage;
  std::int64_t rows, width;
  const void* dy;
  const void* x;
  const void* weight;
  const void* d_sum;  // added to dx; null: nothing
  const float* mean;  // LayerNorm
  const float* rstd;
  void* dx;
  void* dweight;
  void* dbias;              // LayerNorm
  float* dweight_partials;  // [partial_rows(rows), width]: the gradients of the parameters in parts
  float* dbias_partials;    // as many; LayerNorm
};

// Parts in which the parameters' gradients are summed. Known without a device, so that a plan on meta is exact. A part
// is the rows of one block; a GPU with 132 multiprocessors runs up to 264 blocks here, one with 160 as many as there
// are parts.
inline constexpr std::int64_t kMostPartialRows = 320;
constexpr std::int64_t partial_rows(std::int64_t rows) { return std::min(rows, kMostPartialRows); }

// On the CPU fewer parts do, and a number that does not depend on the threads gives the same bits on every machine.
constexpr std::int64_t cpu_parts(std::int64_t rows) { return std::min<std::int64_t>(rows, 64); }

// Columns [begin, end) of dweight and dbias from `parts` partial sums, on the calling thread.
void column_sums_cpu(const NormBackward& norm, std::int64_t parts, std::int64_t begin, std::int64_t end);

}  // namespace headroom::kernels
