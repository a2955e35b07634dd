// Computes    m = β1 m + (1 − β1) g;  v = β2 v + (1 − β2) g²;  p = (1 − η λ) p − η m̂ / (√v̂ + ε), in place,
//             optionally with a bf16 or fp16 copy of p
// Shapes      any number of tensors p, g, m, v [n], contiguous; 320 per launch
// Precision   storage as in adamw_ops.h; arithmetic fp32 without contraction, same bits as on the CPU
// Memory      moves the bytes of 2 p + g + 2 m + 2 v (+ the copy): 7·n·s if all have s bytes per element
// Variants    eight elements per thread and iteration if all pointers are 16-byte aligned; single elements otherwise
//             and in the tail
// Source      Loshchilov, Hutter 2019, arXiv:1711.05101, Algorithm 2
// Checked by  tests/kernels/optimizer/adamw_cases.cpp
#include <type_traits>

#include "kernels/adamw/adamw.h"
#include "kernels/adamw/adamw_math.h"
#include "kernels/common/pack.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/common/tensor_batch.cuh"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kPack = 8;                                       // elements per thread and iteration
constexpr std::int64_t kBlockElements = 2 * kThreads * kPack;  // 4096
constexpr int kMostTensors = 320;

using Batch = TensorBatch<AdamWTensor, kMostTensors>;

template <typename P, typename G, typename M, typename W>
__device__ __forceinline__ void update(P& param, G gradient, M& first_moment, M& second_moment, W& working,
                                       const AdamWShared& shared, std::int64_t pair, int half) {
  float p = load(param), m = load(first_moment), v = load(second_moment);
  adamw_element(p, load(gradient) * shared.gradient_scale, m, v, shared.step);
  store(param, p);
  if constexpr (std::is_same_v<P, Bf16>) {
    if (shared.stochastic) {
      param.bits = rounded_stochastically(p, (rounding_bits(shared.key, pair) >> (half * 16)) & 0xffffu);
    }
  }
  if constexpr (!std::is_same_v<W, NoCopy>) store(working, p);
  store(first_moment, m);
  store(second_moment, v);
}

template <typename P, typename G, typename M, typename W>
__global__ void __launch_bounds__(kThreads)
    adamw_kernel(const __grid_constant__ Batch batch, AdamWStep step, AdamWSwitches switches) {
  if (switches.overflow != nullptr && *switches.overflow != 0) return;
  if (switches.step_count != nullptr) {  // one thread's 40 multiplications in double; meanwhile other blocks move bytes
    __shared__ AdamWStep corrected;
    if (threadIdx.x == 0) {
      corrected = step;
      set_bias_corrections(corrected, *switches.step_count);
    }
    __syncthreads();
    step = corrected;
  }
  const int which = batch.tensor_of(blockIdx.x);
  const AdamWTensor& tensor = batch.tensor[which];
  auto* const param = static_cast<P*>(tensor.param);
  const auto* const gradient = static_cast<const G*>(tensor.gradient);
  auto* const first_moment = static_cast<M*>(tensor.first_moment);
  auto* const second_moment = static_cast<M*>(tensor.second_moment);
  [[maybe_unused]] auto* const working = static_cast<W*>(tensor.working);
  constexpr bool kCopies = !std::is_same_v<W, NoCopy>;
  if (!tensor.decays) step.decay = 1.0f;
  const AdamWShared shared{.step = step,
                           .gradient_scale = switches.inverse_scale != nullptr ? *switches.inverse_scale : 1.0f,
                           .stochastic = switches.stochastic_rounding,
                           .key = rounding_key(switches.seed, step.t, tensor.number)};
  const std::int64_t begin = (blockIdx.x - batch.first_block[which]) * kBlockElements;
  const std::int64_t end = min(begin + kBlockElements, tensor.n);
  std::int64_t tail = begin;
  if (aligned_all(param, gradient, first_moment, second_moment) && (!kCopies || aligned_all(working))) {
    tail = begin + (end - begin) / kPack * kPack;
    for (std::int64_t i = begin + threadIdx.x * kPack; i < tail; i += kThreads * kPack) {
      Pack<P, kPack> p = load_pack<kPack>(param + i);
      const Pack<G, kPack> g = load_pack<kPack>(gradient + i);
      Pack<M, kPack> m = load_pack<kPack>(first_moment + i);
      Pack<M, kPack> v = load_pack<kPack>(second_moment + i);
      Pack<W, kPack> w;
#pragma unroll
      for (int k = 0; k < kPack; ++k) {
        update(p.element[k], g.element[k], m.element[k], v.element[k], w.element[k], shared, i / 2 + k / 2, k % 2);
      }
      store_pack(param + i, p);
      store_pack(first_moment + i, m);
      store_pack(second_moment + i, v);
      if constexpr (kCopies) store_pack(working + i, w);
    }
  }
  for (std::int64_t i = tail + threadIdx.x; i < end; i += kThreads) {
    W w;
    update(param[i], gradient[i], first_moment[i], second_moment[i], w, shared, i / 2, static_cast<int>(i % 2));
    if constexpr (kCopies) working[i] = w;
  }
}

__global__ void advance_kernel(std::int64_t* counter, const std::int32_t* overflow) {
  if (overflow == nullptr || *overflow == 0) ++*counter;
}

}  // namespace

int adamw_cuda(std::span<const AdamWTensor> tensors, const AdamWTypes& types, const AdamWStep& step,
               const AdamWSwitches& switches, CUstream_st* stream) {
  if (!types.supported()) return cudaErrorInvalidValue;
  return for_each_batch<kMostTensors>(tensors, kBlockElements, [&](const Batch& batch, unsigned blocks) {
    return with_weight(types, [&](auto p, auto g, auto w) -> int {
      using P = decltype(p);
      using G = decltype(g);
      using W = decltype(w);
      if (types.moment == Storage::kFp32) {
        adamw_kernel<P, G, float, W><<<blocks, kThreads, 0, stream>>>(batch, step, switches);
      } else {
        adamw_kernel<P, G, Bf16, W><<<blocks, kThreads, 0, stream>>>(batch, step, switches);
      }
      return cudaGetLastError();
    });
  });
}

int advance_step_count_cuda(std::int64_t* counter, const std::int32_t* overflow, CUstream_st* stream) {
  advance_kernel<<<1, 1, 0, stream>>>(counter, overflow);
  return cudaGetLastError();
}

}  // namespace headroom::kernels
