// Spreads a row over a group of threads with the same threadIdx.y. 16-byte vector v of thread t is vector v ·
// blockDim.x + t of every row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/numbers.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels::row_norm {

constexpr int kBlockThreads = 512;  // at most, except for the widest rows
constexpr int kWidestThreads = 1024;
constexpr int kMostGroups = 15;  // a block has 16 barriers, one of them for __syncthreads

// Returns threads per row in x, rows per block in y.
inline dim3 cut(std::int64_t row_vectors, int vectors_a_thread, int block_threads) {
  const std::int64_t threads = (row_vectors + vectors_a_thread - 1) / vectors_a_thread;
  const int row_threads = static_cast<int>((threads + kWarp - 1) / kWarp * kWarp);
  return dim3(row_threads, std::clamp(block_threads / row_threads, 1, kMostGroups));
}
inline unsigned blocks_for(std::int64_t rows, dim3 block) {
  return static_cast<unsigned>((rows + block.y - 1) / block.y);
}

// Barrier 0 is the whole block's.
__device__ __forceinline__ void group_barrier() {
  asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y + 1), "r"(blockDim.x) : "memory");
}

}  // namespace headroom::kernels::row_norm
