// Computes    overflow = 1 if any element of any tensor is inf or NaN; the next dynamic loss scale
// Shapes      any number of tensors [n], contiguous; 1024 per launch
// Precision   fp32, bf16 or fp16; only exponent bits are read
// Memory      reads each element once and writes one flag
// Variants    16 bytes per thread and iteration if aligned, otherwise single elements. All blocks that find inf or NaN
//             write the same 1
// Source      Micikevicius et al. 2018, arXiv:1710.03740, section 3.2
// Checked by  tests/kernels/optimizer/gradient_check_cases.cpp

#include "kernels/common/storage.cuh"
#include "kernels/common/tensor_batch.cuh"
#include "kernels/gradient_check/gradient_check.h"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kBlockBytes = 8 * kThreads * kVectorBytes;  // 32 KiB
constexpr int kMostTensors = 1024;

using Batch = TensorBatch<CheckedTensor, kMostTensors>;

// True if a number in the word (one fp32 or two 16-bit) has all exponent bits set.
template <typename Bits>
__device__ __forceinline__ bool full(unsigned word, unsigned exponent) {
  if constexpr (sizeof(Bits) == 4) {
    return (word & exponent) == exponent;
  } else {
    return (word & exponent) == exponent || ((word >> 16) & exponent) == exponent;
  }
}

template <typename Bits>
__global__ void __launch_bounds__(kThreads)
    check_kernel(const __grid_constant__ Batch batch, unsigned exponent, std::int32_t* overflow) {
  constexpr std::int64_t kBlockElements = kBlockBytes / sizeof(Bits);
  constexpr int kWidth = kVectorBytes / sizeof(Bits);
  const int which = batch.tensor_of(blockIdx.x);
  const auto* const bits = static_cast<const Bits*>(batch.tensor[which].data);
  const std::int64_t begin = (blockIdx.x - batch.first_block[which]) * kBlockElements;
  const std::int64_t end = min(begin + kBlockElements, batch.tensor[which].n);
  bool found = false;
  std::int64_t tail = begin;
  if (reinterpret_cast<std::uintptr_t>(bits) % kVectorBytes == 0) {
    tail = begin + (end - begin) / kWidth * kWidth;
#pragma unroll 4
    for (std::int64_t i = begin + threadIdx.x * kWidth; i < tail; i += kThreads * kWidth) {
      const int4 words = *reinterpret_cast<const int4*>(bits + i);
      found |= full<Bits>(words.x, exponent) || full<Bits>(words.y, exponent) || full<Bits>(words.z, exponent) ||
               full<Bits>(words.w, exponent);
    }
  }
  for (std::int64_t i = tail + threadIdx.x; i < end; i += kThreads) found |= (bits[i] & exponent) == exponent;
  if (__syncthreads_or(found) && threadIdx.x == 0) *overflow = 1;
}

__global__ void update_kernel(LossScale state, LossScaleRule rule) { update_loss_scale(state, rule); }

}  // namespace

int check_finite_cuda(std::span<const CheckedTensor> tensors, Storage storage, std::int32_t* overflow,
                      CUstream_st* stream) {
  const unsigned exponent = exponent_bits(storage);
  const std::int64_t block_elements = kBlockBytes / bytes_of(storage);
  return for_each_batch<kMostTensors>(tensors, block_elements, [&](const Batch& batch, unsigned blocks) {
    if (storage == Storage::kFp32) {
      check_kernel<std::uint32_t><<<blocks, kThreads, 0, stream>>>(batch, exponent, overflow);
    } else {
      check_kernel<std::uint16_t><<<blocks, kThreads, 0, stream>>>(batch, exponent, overflow);
    }
    return static_cast<int>(cudaGetLastError());
  });
}

int update_loss_scale_cuda(const LossScale& state, const LossScaleRule& rule, CUstream_st* stream) {
  update_kernel<<<1, 1, 0, stream>>>(state, rule);
  return cudaGetLastError();
}

}  // namespace headroom::kernels
