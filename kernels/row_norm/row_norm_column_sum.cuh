// Sums the blocks' partial sums to the gradients of weight and bias.
#pragma once

#include <cstdint>

#include "kernels/common/storage.cuh"
#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels::row_norm {

// A block sums 32 columns of dweight (blockIdx.y 0) or dbias (1); each of its warps adds a part of the rows.
constexpr int kColumnWarps = 16;

template <typename T>
__global__ void __launch_bounds__(kWarp* kColumnWarps) column_sum_kernel(NormBackward norm, int parts) {
  __shared__ float shared[kColumnWarps][kWarp];
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();  // the previous kernel may still run
#endif
  const std::int64_t column = std::int64_t{blockIdx.x} * kWarp + threadIdx.x;
  const float* const partials = blockIdx.y == 0 ? norm.dweight_partials : norm.dbias_partials;
  float part[kMostPartialRows / kColumnWarps];  // all loads in flight at once
#pragma unroll
  for (int i = 0; i < kMostPartialRows / kColumnWarps; ++i) {
    const int row = i * kColumnWarps + threadIdx.y;
    part[i] = row < parts && column < norm.width ? partials[row * norm.width + column] : 0.0f;
  }
  float sum = 0;
#pragma unroll
  for (const float value : part) sum += value;
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || column >= norm.width) return;
  for (int warp = 1; warp < kColumnWarps; ++warp) sum += shared[warp][threadIdx.x];
  store(static_cast<T*>(blockIdx.y == 0 ? norm.dweight : norm.dbias)[column], sum);
}

// From compute capability 9.0 on, the launch overlaps with the end of the previous kernel.
template <typename T>
cudaError_t launch_column_sum(const NormBackward& norm, int parts, cudaStream_t stream) {
  int device = 0, major = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((norm.width + kWarp - 1) / kWarp), norm.dbias == nullptr ? 1 : 2);
  config.blockDim = dim3(kWarp, kColumnWarps);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = major >= 9 ? 1 : 0;
  return cudaLaunchKernelEx(&config, &column_sum_kernel<T>, norm, parts);
}

}  // namespace headroom::kernels::row_norm
