// Computes    counts[field(x · factor)] += 1, where field is fp32's exponent bits, with a separate bin for zeros; the
//             same for the changes that AdamW wanted to make, d = −η λ p − η m̂ / (√v̂ + ε): for all d, and for nonzero
//             d lost to rounding
// Shapes      x; or p before and after the step, m and v; all [n], contiguous; counts int64 [257]
// Precision   arithmetic fp32 without contraction, same counts as on the CPU
// Memory      reads each element once; a block adds at most 257 numbers to the counts
// Variants    eight elements per thread and iteration if aligned, otherwise single elements. Gradients fall into some
//             twenty bins; to avoid collisions in a warp, a block has eight histograms in shared memory, four banks
//             apart, each used by every eighth lane
// Source      our own; counts as in Micikevicius et al. 2018, arXiv:1710.03740, figure 3
// Checked by  tests/kernels/optimizer/exponent_counts_cases.cpp
#include <algorithm>

#include "kernels/adamw/adamw_math.h"
#include "kernels/common/pack.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/exponent_counts/exponent_counts.h"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kPack = 8;                                       // elements per thread and iteration
constexpr std::int64_t kLeastElements = 4 * kThreads * kPack;  // per block: 8192, to outweigh two passes over its bins
constexpr int kBlocksPerMultiprocessor = 2048 / kThreads;
constexpr int kCopies = 8;
constexpr int kStride = 260;  // 4 more than a multiple of 32 banks

// Overflows at 2^32 elements per block, some 4e12 in all blocks.
class BlockCounts {
 public:
  __device__ void clear() {
    for (int i = threadIdx.x; i < kCopies * kStride; i += kThreads) count_[i] = 0;
  }
  __device__ void add(float x) { atomicAdd(&count_[threadIdx.x % kCopies * kStride + exponent_bin(x)], 1u); }
  __device__ void add_to(std::int64_t* counts) const {
    for (int bin = threadIdx.x; bin < kExponentBins; bin += kThreads) {
      unsigned long long sum = 0;
      for (int copy = 0; copy < kCopies; ++copy) sum += count_[copy * kStride + bin];
      if (sum != 0) atomicAdd(reinterpret_cast<unsigned long long*>(counts + bin), sum);
    }
  }

 private:
  unsigned count_[kCopies * kStride];
};

// Calls each<kPack>(i) or each<1>(i) to cover all n elements once.
template <typename Each>
__device__ __forceinline__ void over_all(std::int64_t n, bool wide, const Each& each) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t threads = std::int64_t{gridDim.x} * kThreads;
  const std::int64_t whole = wide ? n / kPack * kPack : 0;
  for (std::int64_t i = thread * kPack; i < whole; i += threads * kPack) each.template operator()<kPack>(i);
  for (std::int64_t i = whole + thread; i < n; i += threads) each.template operator()<1>(i);
}

template <typename T>
__global__ void __launch_bounds__(kThreads) count_kernel(CountedNumbers numbers) {
  __shared__ BlockCounts counts;
  counts.clear();
  __syncthreads();
  const auto* const x = static_cast<const T*>(numbers.x);
  const float factor = numbers.factor != nullptr ? *numbers.factor : 1.0f;
  over_all(numbers.n, aligned_all(x), [&]<int N>(std::int64_t i) {
    const Pack<T, N> pack = load_pack<N>(x + i);
#pragma unroll
    for (int k = 0; k < N; ++k) counts.add(load(pack.element[k]) * factor);
  });
  __syncthreads();
  counts.add_to(numbers.counts);
}

template <typename P, typename M>
__global__ void __launch_bounds__(kThreads) updates_kernel(CountedUpdates of, AdamWStep step, AdamWSwitches switches) {
  if (switches.overflow != nullptr && *switches.overflow != 0) return;
  __shared__ BlockCounts updates, lost;
  __shared__ AdamWStep corrected;
  updates.clear();
  lost.clear();
  if (threadIdx.x == 0) {
    corrected = step;
    if (switches.step_count != nullptr) set_bias_corrections(corrected, *switches.step_count);
  }
  __syncthreads();
  step = corrected;
  const auto* const before = static_cast<const P*>(of.before);
  const auto* const after = static_cast<const P*>(of.after);
  const auto* const first_moment = static_cast<const M*>(of.first_moment);
  const auto* const second_moment = static_cast<const M*>(of.second_moment);
  over_all(of.n, aligned_all(before, after, first_moment, second_moment), [&]<int N>(std::int64_t i) {
    const Pack<P, N> old = load_pack<N>(before + i), now = load_pack<N>(after + i);
    const Pack<M, N> m = load_pack<N>(first_moment + i), v = load_pack<N>(second_moment + i);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const float p = load(old.element[k]);
      const float change = wanted_change(p, load(m.element[k]), load(v.element[k]), step);
      updates.add(change);
      if (change != 0 && p == load(now.element[k])) lost.add(change);
    }
  });
  __syncthreads();
  updates.add_to(of.updates);
  lost.add_to(of.lost);
}

unsigned blocks_for(std::int64_t n) {
  const std::int64_t most = std::int64_t{multiprocessors()} * kBlocksPerMultiprocessor;
  return static_cast<unsigned>(std::min(most, (n + kLeastElements - 1) / kLeastElements));
}

}  // namespace

int count_exponents_cuda(const CountedNumbers& numbers, CUstream_st* stream) {
  if (numbers.n == 0) return cudaSuccess;
  return with_storage(numbers.storage, [&](auto x) -> int {
    count_kernel<decltype(x)><<<blocks_for(numbers.n), kThreads, 0, stream>>>(numbers);
    return cudaGetLastError();
  });
}

int count_updates_cuda(const CountedUpdates& updates, const AdamWStep& step, const AdamWSwitches& switches,
                       CUstream_st* stream) {
  if (updates.n == 0) return cudaSuccess;
  return with_storage(updates.weight, [&](auto p) -> int {
    using P = decltype(p);
    const unsigned blocks = blocks_for(updates.n);
    if (updates.moment == Storage::kFp32) {
      updates_kernel<P, float><<<blocks, kThreads, 0, stream>>>(updates, step, switches);
    } else {
      updates_kernel<P, Bf16><<<blocks, kThreads, 0, stream>>>(updates, step, switches);
    }
    return cudaGetLastError();
  });
}

}  // namespace headroom::kernels
