// Computes    factor = S⁻¹ min(1, c / (‖g‖ S⁻¹ + 10⁻⁶)) with g the gradients of all tensors, scaled by S
// Shapes      any number of tensors [n], contiguous; 1024 per launch; one fp64 sum per 16,384 elements
// Precision   each thread adds 64 of a block's 16,384 squares in fp32; all further sums are fp64
// Memory      reads each element once, writes and rereads the sums
// Variants    16 bytes per thread and iteration if aligned, otherwise single elements; sums have a fixed order
// Source      torch.nn.utils.clip_grad_norm_; Pascanu et al. 2013, arXiv:1211.5063, section 3.2
// Checked by  tests/kernels/optimizer/gradient_check_cases.cpp

#include "kernels/common/storage.cuh"
#include "kernels/common/tensor_batch.cuh"
#include "kernels/gradient_check/gradient_norm.h"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kMostTensors = 1024;

using Batch = TensorBatch<CheckedTensor, kMostTensors>;

__device__ __forceinline__ float square(float value) { return value * value; }

// Sum over a block, in its first thread.
__device__ double block_sum(double value) {
  __shared__ double of_warp[kThreads / kWarp];
#pragma unroll
  for (int lane = kWarp / 2; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffu, value, lane);
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  double sum = 0;
  if (threadIdx.x == 0)
    for (const double warp : of_warp) sum += warp;
  return sum;
}

template <typename T>
__global__ void __launch_bounds__(kThreads) square_kernel(const __grid_constant__ Batch batch, double* sums) {
  constexpr int kWidth = Vector<T>::kWidth;
  const int which = batch.tensor_of(blockIdx.x);
  const auto* const values = static_cast<const T*>(batch.tensor[which].data);
  const std::int64_t begin = (blockIdx.x - batch.first_block[which]) * kNormBlock;
  const std::int64_t end = min(begin + kNormBlock, batch.tensor[which].n);
  float own = 0;
  std::int64_t tail = begin;
  if (reinterpret_cast<std::uintptr_t>(values) % kVectorBytes == 0) {
    tail = begin + (end - begin) / kWidth * kWidth;
#pragma unroll 4
    for (std::int64_t i = begin + threadIdx.x * kWidth; i < tail; i += kThreads * kWidth) {
      const Vector<T> several = *reinterpret_cast<const Vector<T>*>(values + i);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) own += square(load(several.element[k]));
    }
  }
  for (std::int64_t i = tail + threadIdx.x; i < end; i += kThreads) own += square(load(values[i]));
  const double sum = block_sum(own);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kThreads)
    factor_kernel(const double* sums, std::int64_t count, double most, const float* inverse_scale, float* factor) {
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += kThreads) sum += sums[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *factor = clip_factor(sum, most, inverse_scale);
}

}  // namespace

int sums_of_squares_cuda(std::span<const CheckedTensor> tensors, Storage storage, double* sums, CUstream_st* stream) {
  return for_each_batch<kMostTensors>(tensors, kNormBlock, [&](const Batch& batch, unsigned blocks) {
    with_storage(storage,
                 [&](auto type) { square_kernel<decltype(type)><<<blocks, kThreads, 0, stream>>>(batch, sums); });
    sums += blocks;
    return static_cast<int>(cudaGetLastError());
  });
}

int clip_factor_cuda(const double* sums, std::int64_t count, double most, const float* inverse_scale, float* factor,
                     CUstream_st* stream) {
  factor_kernel<<<1, kThreads, 0, stream>>>(sums, count, most, inverse_scale, factor);
  return cudaGetLastError();
}

}  // namespace headroom::kernels
