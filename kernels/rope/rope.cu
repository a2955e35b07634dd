// Computes    (x_j, x_{j+D/2}) ← (x_j cos − x_{j+D/2} sin, x_{j+D/2} cos + x_j sin) for every head of q and k;
//             the gradient uses −sin
// Shapes      q [B, T, A, D], k [B, T, K, D], free strides, D contiguous; cos, sin [T, D/2]
// Precision   q and k fp32, bf16 or fp16; table and arithmetic fp32
// Memory      in place; moves 2·B·T·(A + K)·D·s bytes, and the table mostly from caches
// Variants    16 bytes of each half if pointers, strides and D/2 allow it, otherwise single elements. A thread rotates
//             kHeads heads of a token, to read its angles once and have more loads in flight
// Source      Su et al. 2021, RoFormer, arXiv:2104.09864, equation 34; pairs (j, j + D/2) as in Hugging Face weights
// Checked by  tests/kernels/layers/rope_cases.cpp
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "kernels/common/numbers.cuh"
#include "kernels/common/pack.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/rope/rope.h"

namespace headroom::kernels {

namespace {

// Measured on an H200 with 24 + 8 and 32 + 8 heads of 64 and 128, in percentage points of a copy's speed: 4 heads per
// thread are up to 3 slower, 5 heads 1 to 3, 512 threads 10, streaming loads and stores 2 to 4; 128 threads are equally
// fast.
constexpr int kHeads = 2;
constexpr int kMostThreads = 256;
constexpr int kMostTokens = 64;                // per block
constexpr std::int64_t kMostGridRows = 65535;  // limit of gridDim.y

// 16 bytes of a head, unpacked only for the rotation.
template <typename T, int kWidth>
struct Piece {
  static_assert(kWidth == kElements<T>);
  using InFp32 = Numbers<T>;
  uint4 bits;

  __device__ __forceinline__ void take(const T* place) { bits = *reinterpret_cast<const uint4*>(place); }
  __device__ __forceinline__ InFp32 numbers() {
    keep_packed(bits);
    return InFp32(bits);
  }
  __device__ static __forceinline__ void put(T* place, const InFp32& x) {
    *reinterpret_cast<uint4*>(place) = x.packed();
  }
};

template <typename T>
struct Piece<T, 1> {
  struct InFp32 {
    float at[1];
  };
  T element;

  __device__ __forceinline__ void take(const T* place) { element = *place; }
  __device__ __forceinline__ InFp32 numbers() const { return {load(element)}; }
  __device__ static __forceinline__ void put(T* place, const InFp32& x) { store(*place, x.at[0]); }
};

// blockIdx.x selects blockDim.y tokens; blockIdx.y strides over the batch, threadIdx.x over pieces of groups of heads.
// Group g has heads g + i·groups, so neighboring threads access neighboring memory. `shift` is log2(`pieces`), or −1 if
// that is not whole.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kMostThreads) rope_kernel(const RopeArgs args, int groups, int pieces, int shift) {
  using Stride = std::conditional_t<kWidth == 1, std::int64_t, int>;  // a 32-bit multiplication is one instruction
  const std::int64_t t = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (t >= args.length) return;
  const int half = static_cast<int>(args.head_dim / 2);
  const int q_heads = static_cast<int>(args.q.heads), all_heads = q_heads + static_cast<int>(args.k.heads);
  const auto q_stride = static_cast<Stride>(args.q.head_stride), k_stride = static_cast<Stride>(args.k.head_stride);
  for (int item = threadIdx.x; item < groups * pieces; item += blockDim.x) {
    const int group = shift >= 0 ? item >> shift : item / pieces;
    const int j = (item - group * pieces) * kWidth;
    const std::int64_t angle = t * half + j;
    for (std::int64_t b = blockIdx.y; b < args.batch; b += gridDim.y) {
      T* const q = static_cast<T*>(args.q.data) + b * args.q.batch_stride + t * args.q.time_stride + j;
      T* const k = static_cast<T*>(args.k.data) + b * args.k.batch_stride + t * args.k.time_stride + j;
      T* place[kHeads];
      Piece<T, kWidth> low[kHeads], high[kHeads];
#pragma unroll
      for (int i = 0; i < kHeads; ++i) {
        const int head = group + i * groups;
        place[i] = head < q_heads ? q + std::int64_t{head} * q_stride : k + std::int64_t{head - q_heads} * k_stride;
        if (head >= all_heads) continue;
        low[i].take(place[i]);
        high[i].take(place[i] + half);
      }
      // Loaded after the heads, since the table mostly comes from caches.
      const Pack<float, kWidth> cos = load_pack<kWidth>(args.cos + angle);
      Pack<float, kWidth> sin = load_pack<kWidth>(args.sin + angle);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sin.element[e] = args.inverse ? -sin.element[e] : sin.element[e];
#pragma unroll
      for (int i = 0; i < kHeads; ++i) {
        if (group + i * groups >= all_heads) continue;
        auto x = low[i].numbers(), y = high[i].numbers();
#pragma unroll
        for (int e = 0; e < kWidth; ++e) {
          const float a = x.at[e], other = y.at[e], c = cos.element[e], s = sin.element[e];
          // Fixes which product is rounded, for equal bits in both variants.
          x.at[e] = fmaf(a, c, -__fmul_rn(other, s));
          y.at[e] = fmaf(other, c, __fmul_rn(a, s));
        }
        Piece<T, kWidth>::put(place[i], x);
        Piece<T, kWidth>::put(place[i] + half, y);
      }
    }
  }
}

template <typename T, int kWidth>
int launch(const RopeArgs& args, CUstream_st* stream) {
  const std::int64_t all_heads = args.q.heads + args.k.heads;
  const auto groups = static_cast<int>((all_heads + kHeads - 1) / kHeads);
  const auto pieces = static_cast<int>(args.head_dim / 2 / kWidth);
  const auto bits = static_cast<unsigned>(pieces);
  const int shift = std::has_single_bit(bits) ? std::countr_zero(bits) : -1;
  const int items = std::min(groups * pieces, kMostThreads);
  // Example: 32 + 8 heads of 64 in bf16: 20 groups · 4 pieces = 80 threads per token, 3 tokens per block.
  int tokens = std::clamp(kMostThreads / items, 1, kMostTokens);
  tokens = static_cast<int>(std::min<std::int64_t>(tokens, args.length));
  const dim3 block(static_cast<unsigned>(items), static_cast<unsigned>(tokens));
  const dim3 grid(static_cast<unsigned>((args.length + tokens - 1) / tokens),
                  static_cast<unsigned>(std::min(args.batch, kMostGridRows)));
  rope_kernel<T, kWidth><<<grid, block, 0, stream>>>(args, groups, pieces, shift);
  return cudaGetLastError();
}

bool wide(const RopeTensor& tensor, std::int64_t width) {
  return tensor.heads == 0 ||
         (aligned(tensor.data) && tensor.batch_stride % width == 0 && tensor.time_stride % width == 0 &&
          tensor.head_stride % width == 0 && tensor.head_stride <= std::numeric_limits<int>::max());
}

}  // namespace

int rope_cuda(const RopeArgs& args, CUstream_st* stream) {
  if (args.batch == 0 || args.length == 0 || args.head_dim == 0 || args.q.heads + args.k.heads == 0) return cudaSuccess;
  return with_storage(args.storage, [&](auto type) {
    using T = decltype(type);
    constexpr int kWidth = Vector<T>::kWidth;
    if (args.head_dim / 2 % kWidth == 0 && aligned_all(args.cos, args.sin) && wide(args.q, kWidth) &&
        wide(args.k, kWidth)) {
      return launch<T, kWidth>(args, stream);
    }
    return launch<T, 1>(args, stream);
  });
}

}  // namespace headroom::kernels
