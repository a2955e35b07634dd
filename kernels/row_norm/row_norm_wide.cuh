// The norms for rows that exceed the other kernels' registers or are not whole 16-byte vectors: one element at a time,
// one block per row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/storage.cuh"
#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels::row_norm {

constexpr int kWideThreads = 512;

// Sum over a block, in all its threads; starts with a barrier.
__device__ __forceinline__ float block_sum(float value) {
  __shared__ float part[kWideThreads / kWarp];
  value = warp_sum(value);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) part[threadIdx.x / kWarp] = value;
  __syncthreads();
  return warp_sum(threadIdx.x % kWarp < kWideThreads / kWarp ? part[threadIdx.x % kWarp] : 0.0f);
}

template <typename T, NormKind kKind>
__global__ void __launch_bounds__(kWideThreads) wide_forward_kernel(NormForward norm) {
  constexpr bool kMean = kKind == NormKind::kLayer;
  const T* const weight = static_cast<const T*>(norm.weight);
  const T* const bias = static_cast<const T*>(norm.bias);
  const auto width = static_cast<float>(norm.width);
  for (std::int64_t row = blockIdx.x; row < norm.rows; row += gridDim.x) {
    const T* x = static_cast<const T*>(norm.x) + row * norm.width;
    T* const y = static_cast<T*>(norm.y) + row * norm.width;
    if constexpr (kKind == NormKind::kAddRms) {
      const T* const residual = static_cast<const T*>(norm.residual) + row * norm.width;
      T* const sum = static_cast<T*>(norm.sum) + row * norm.width;
      for (std::int64_t i = threadIdx.x; i < norm.width; i += kWideThreads)
        store(sum[i], load(x[i]) + load(residual[i]));
      x = sum;  // each thread reads its own writes
    }
    float mean = 0, rstd;
    if constexpr (kKind == NormKind::kRebuildRms) {
      rstd = norm.rstd[row];
    } else {
      if constexpr (kMean) {
        float total = 0;
        for (std::int64_t i = threadIdx.x; i < norm.width; i += kWideThreads) total += load(x[i]);
        mean = block_sum(total) / width;
      }
      float square = 0;
      for (std::int64_t i = threadIdx.x; i < norm.width; i += kWideThreads) {
        const float centred = load(x[i]) - mean;
        square += centred * centred;
      }
      rstd = rsqrtf(block_sum(square) / width + norm.epsilon);
      if (threadIdx.x == 0) {
        norm.rstd[row] = rstd;
        if constexpr (kMean) norm.mean[row] = mean;
      }
    }
    for (std::int64_t i = threadIdx.x; i < norm.width; i += kWideThreads) {
      const float normal = (load(x[i]) - mean) * rstd;
      if constexpr (kMean) {
        store(y[i], normal * load(weight[i]) + load(bias[i]));
      } else {
        store(y[i], normal * load(weight[i]));
      }
    }
  }
}

// Partial sums accumulate in memory; a column belongs to one thread.
template <typename T, bool kMean>
__global__ void __launch_bounds__(kWideThreads) wide_backward_kernel(NormBackward norm) {
  const T* const weight = static_cast<const T*>(norm.weight);
  float* const dweight = norm.dweight_partials + std::int64_t{blockIdx.x} * norm.width;
  float* const dbias = kMean ? norm.dbias_partials + std::int64_t{blockIdx.x} * norm.width : nullptr;
  for (std::int64_t row = blockIdx.x; row < norm.rows; row += gridDim.x) {
    const bool first = row == blockIdx.x;
    const T* const x = static_cast<const T*>(norm.x) + row * norm.width;
    const T* const dy = static_cast<const T*>(norm.dy) + row * norm.width;
    const float rstd = norm.rstd[row];
    const float mean = kMean ? norm.mean[row] : 0.0f;
    float along = 0, level = 0;
    for (std::int64_t i = threadIdx.x; i < norm.width; i += kWideThreads) {
      const float normal = (load(x[i]) - mean) * rstd;
      const float upstream = load(dy[i]);
      const float g = upstream * load(weight[i]);
      along += g * normal;
      dweight[i] = (first ? 0.0f : dweight[i]) + upstream * normal;
      if constexpr (kMean) {
        level += g;
        dbias[i] = (first ? 0.0f : dbias[i]) + upstream;
      }
    }
    along = block_sum(along) / static_cast<float>(norm.width);
    if constexpr (kMean) level = block_sum(level) / static_cast<float>(norm.width);
    T* const dx = static_cast<T*>(norm.dx) + row * norm.width;
    const T* const d_sum = norm.d_sum == nullptr ? nullptr : static_cast<const T*>(norm.d_sum) + row * norm.width;
    for (std::int64_t i = threadIdx.x; i < norm.width; i += kWideThreads) {
      const float normal = (load(x[i]) - mean) * rstd;
      const float value = rstd * (load(dy[i]) * load(weight[i]) - level - normal * along);
      store(dx[i], d_sum == nullptr ? value : value + load(d_sum[i]));
    }
  }
}

template <typename T, NormKind kKind>
cudaError_t launch_wide_forward(const NormForward& norm, cudaStream_t stream) {
  constexpr std::int64_t kBlocksPerMultiprocessor = 4;
  const std::int64_t blocks = std::min(norm.rows, kBlocksPerMultiprocessor * multiprocessors());
  wide_forward_kernel<T, kKind><<<static_cast<unsigned>(blocks), kWideThreads, 0, stream>>>(norm);
  return cudaGetLastError();
}

// `blocks` is at most partial_rows(rows).
template <typename T, bool kMean>
cudaError_t launch_wide_backward(const NormBackward& norm, std::int64_t blocks, cudaStream_t stream) {
  wide_backward_kernel<T, kMean><<<static_cast<unsigned>(blocks), kWideThreads, 0, stream>>>(norm);
  return cudaGetLastError();
}

}  // namespace headroom::kernels::row_norm
