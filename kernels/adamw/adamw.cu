// Computes    m = β1 m + (1 − β1) g;  v = β2 v + (1 − β2) g²;  p = (1 − η λ) p − η m̂ / (√v̂ + ε), in place
// Shapes      any number of tensors p, g, m, v [n], contiguous; a launch takes 320 of them
// Precision   p fp32, bf16 or fp16; g like p or fp32; m, v fp32 or bf16; arithmetic fp32; moments are rounded to
//             storage after use
// Memory      allocates nothing; moves 2 p + g + 2 m + 2 v: 7·n·s bytes where all have s bytes an element
// Variants    one: eight elements a thread and step where all four pointers are on 16 bytes, single elements where not
//             and in the tail. The list of tensors travels as the kernel's argument, so nothing is copied beforehand
// Source      Loshchilov, Hutter 2019, arXiv:1711.05101, Algorithm 2
// Checked by  tests/kernels/adamw_gpu_test.cpp
#include <algorithm>
#include <cstdint>

#include "kernels/adamw/adamw.h"
#include "kernels/pack.cuh"
#include "kernels/storage.cuh"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kPack = 8;                                       // elements of a thread at a time
constexpr std::int64_t kBlockElements = 2 * kThreads * kPack;  // 4096
constexpr int kMostTensors = 320;                              // Llama 3 8B has 291

// A launch's tensors. 18 KB: arguments may have 32,764 bytes since CUDA 12.1 on compute capability 7.0 and later.
struct Batch {
  AdamWTensor tensor[kMostTensors];
  unsigned first_block[kMostTensors + 1];  // of each tensor; the last entry is the number of blocks
  int count;
};

template <typename P, typename G, typename M>
__device__ __forceinline__ void update(P& param, G gradient, M& first_moment, M& second_moment, const AdamWStep& step) {
  const float g = load(gradient);
  const float m = step.beta1 * load(first_moment) + (1.0f - step.beta1) * g;
  const float v = step.beta2 * load(second_moment) + (1.0f - step.beta2) * g * g;
  const float denominator = sqrtf(v) * step.second_moment_scale + step.epsilon;
  store(param, step.decay * load(param) - step.step_size * m / denominator);
  store(first_moment, m);
  store(second_moment, v);
}

// The last tensor whose first block is not behind `block`.
__device__ int tensor_of(const Batch& batch, unsigned block) {
  int low = 0, high = batch.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (batch.first_block[middle] <= block) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// Block b takes kBlockElements elements of one tensor.
template <typename P, typename G, typename M>
__global__ void __launch_bounds__(kThreads) adamw_kernel(const __grid_constant__ Batch batch, AdamWStep step) {
  const int which = tensor_of(batch, blockIdx.x);
  const AdamWTensor& tensor = batch.tensor[which];
  auto* const param = static_cast<P*>(tensor.param);
  const auto* const gradient = static_cast<const G*>(tensor.gradient);
  auto* const first_moment = static_cast<M*>(tensor.first_moment);
  auto* const second_moment = static_cast<M*>(tensor.second_moment);
  if (!tensor.decays) step.decay = 1.0f;
  const std::int64_t begin = (blockIdx.x - batch.first_block[which]) * kBlockElements;
  const std::int64_t end = min(begin + kBlockElements, tensor.n);
  std::int64_t tail = begin;
  if (aligned_all(param, gradient, first_moment, second_moment)) {
    tail = begin + (end - begin) / kPack * kPack;
    for (std::int64_t i = begin + threadIdx.x * kPack; i < tail; i += kThreads * kPack) {
      Pack<P, kPack> p = load_pack<kPack>(param + i);
      const Pack<G, kPack> g = load_pack<kPack>(gradient + i);
      Pack<M, kPack> m = load_pack<kPack>(first_moment + i);
      Pack<M, kPack> v = load_pack<kPack>(second_moment + i);
#pragma unroll
      for (int k = 0; k < kPack; ++k) update(p.element[k], g.element[k], m.element[k], v.element[k], step);
      store_pack(param + i, p);
      store_pack(first_moment + i, m);
      store_pack(second_moment + i, v);
    }
  }
  for (std::int64_t i = tail + threadIdx.x; i < end; i += kThreads) {
    update(param[i], gradient[i], first_moment[i], second_moment[i], step);
  }
}

template <typename P, typename G, typename M>
int launch(const Batch& batch, const AdamWStep& step, CUstream_st* stream) {
  adamw_kernel<P, G, M><<<batch.first_block[batch.count], kThreads, 0, stream>>>(batch, step);
  return cudaGetLastError();
}

int launch(const Batch& batch, AdamWTypes types, const AdamWStep& step, CUstream_st* stream) {
  return with_storage(types.param, [&](auto p) {
    using P = decltype(p);
    const bool wide_moments = types.moment == Storage::kFp32;
    if (types.gradient == types.param) {
      return wide_moments ? launch<P, P, float>(batch, step, stream) : launch<P, P, Bf16>(batch, step, stream);
    }
    return wide_moments ? launch<P, float, float>(batch, step, stream) : launch<P, float, Bf16>(batch, step, stream);
  });
}

}  // namespace

int adamw_cuda(std::span<const AdamWTensor> tensors, AdamWTypes types, const AdamWStep& step, CUstream_st* stream) {
  if (!types.supported()) return cudaErrorInvalidValue;
  for (std::size_t done = 0; done < tensors.size();) {
    Batch batch;
    batch.count = 0;
    batch.first_block[0] = 0;
    for (; done < tensors.size() && batch.count < kMostTensors; ++done) {
      const AdamWTensor& tensor = tensors[done];
      if (tensor.n == 0) continue;
      // Worked example: the embedding of Llama 3 8B, 128256 · 4096 = 5.3e8 elements = 128,256 blocks.
      const auto blocks = static_cast<unsigned>((tensor.n + kBlockElements - 1) / kBlockElements);
      batch.tensor[batch.count] = tensor;
      batch.first_block[batch.count + 1] = batch.first_block[batch.count] + blocks;
      ++batch.count;
    }
    if (batch.count == 0) break;
    if (const int error = launch(batch, types, step, stream); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace headroom::kernels
