// Computes    (x_j, x_{j+D/2}) ← (x_j cos − x_{j+D/2} sin, x_{j+D/2} cos + x_j sin) for every head of q and k, with the
//             angle of token t and pair j; with −sin to turn back, which is the gradient
// Shapes      q [B, T, A, D], k [B, T, K, D], strides free but for D; cos, sin [T, D/2]
// Precision   q and k fp32, bf16 or fp16; table fp32; arithmetic fp32
// Memory      in place, allocates nothing; moves 2·B·T·(A + K)·D·s bytes and, mostly from caches, the table
// Variants    16 bytes per thread where pointers, strides and D/2 allow it, else single elements. A thread turns the same
//             pairs of kHeads heads of a token, so that it reads its angles once and has 2·kHeads loads under way
// Source      Su et al. 2021, RoFormer, arXiv:2104.09864, equation 34; pairs (j, j + D/2) as in Hugging Face weights
// Checked by  tests/kernels/rope_gpu_test.cpp
#include <algorithm>
#include <cstdint>

#include "kernels/common/pack.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/rope/rope.h"

namespace headroom::kernels {

namespace {

// Both as measured on an H200: with 5, Llama's 32 + 8 heads of 64 or 128 make 8 whole groups.
constexpr int kHeads = 5;
constexpr int kMostThreads = 128;
constexpr int kMostTokens = 8;                 // of a block
constexpr std::int64_t kMostGridRows = 65535;  // of gridDim.y

// blockIdx.y walks the batch, blockIdx.x tiles of blockDim.y tokens; threadIdx.x is a piece of kWidth pairs of a group
// of heads. Head g + i·groups is the i-th of group g, so neighboring threads touch neighboring memory.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kMostThreads) rope_kernel(RopeArgs args, int groups, int pieces) {
  const std::int64_t t = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (t >= args.length) return;
  const std::int64_t half = args.head_dim / 2;
  const std::int64_t all_heads = args.q.heads + args.k.heads;
  for (int item = threadIdx.x; item < groups * pieces; item += blockDim.x) {
    const int group = item / pieces;
    const std::int64_t j = std::int64_t{item % pieces} * kWidth;
    const Pack<float, kWidth> cos = load_pack<kWidth>(args.cos + t * half + j);
    Pack<float, kWidth> sin = load_pack<kWidth>(args.sin + t * half + j);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) sin.element[e] = args.inverse ? -sin.element[e] : sin.element[e];
    for (std::int64_t b = blockIdx.y; b < args.batch; b += gridDim.y) {
      T* const q = static_cast<T*>(args.q.data) + b * args.q.batch_stride + t * args.q.time_stride + j;
      T* const k = static_cast<T*>(args.k.data) + b * args.k.batch_stride + t * args.k.time_stride + j;
      T* place[kHeads];
      Pack<T, kWidth> low[kHeads], high[kHeads];
#pragma unroll
      for (int i = 0; i < kHeads; ++i) {
        const std::int64_t head = group + std::int64_t{i} * groups;
        if (head >= all_heads) continue;
        place[i] = head < args.q.heads ? q + head * args.q.head_stride : k + (head - args.q.heads) * args.k.head_stride;
        low[i] = load_pack<kWidth>(place[i]);
        high[i] = load_pack<kWidth>(place[i] + half);
      }
#pragma unroll
      for (int i = 0; i < kHeads; ++i) {
        if (group + std::int64_t{i} * groups >= all_heads) continue;
#pragma unroll
        for (int e = 0; e < kWidth; ++e) {
          const float x = load(low[i].element[e]), y = load(high[i].element[e]);
          const float c = cos.element[e], s = sin.element[e];
          // Said which product is rounded, so that both variants give the same bits.
          store(low[i].element[e], fmaf(x, c, -__fmul_rn(y, s)));
          store(high[i].element[e], fmaf(y, c, __fmul_rn(x, s)));
        }
        store_pack(place[i], low[i]);
        store_pack(place[i] + half, high[i]);
      }
    }
  }
}

template <typename T, int kWidth>
int launch(const RopeArgs& args, CUstream_st* stream) {
  const std::int64_t all_heads = args.q.heads + args.k.heads;
  const auto groups = static_cast<int>((all_heads + kHeads - 1) / kHeads);
  const auto pieces = static_cast<int>(args.head_dim / 2 / kWidth);
  const int items = std::min(groups * pieces, kMostThreads);
  // Worked example: 32 + 8 heads of 64 in bf16: 8 groups · 4 pieces = 32 threads per token, 4 tokens per block.
  int tokens = std::clamp(kMostThreads / items, 1, kMostTokens);
  tokens = static_cast<int>(std::min<std::int64_t>(tokens, args.length));
  const dim3 block(static_cast<unsigned>(items), static_cast<unsigned>(tokens));
  const dim3 grid(static_cast<unsigned>((args.length + tokens - 1) / tokens),
                  static_cast<unsigned>(std::min(args.batch, kMostGridRows)));
  rope_kernel<T, kWidth><<<grid, block, 0, stream>>>(args, groups, pieces);
  return cudaGetLastError();
}

bool wide(const RopeTensor& tensor, std::int64_t width) {
  return tensor.heads == 0 || (aligned(tensor.data) && tensor.batch_stride % width == 0 &&
                               tensor.time_stride % width == 0 && tensor.head_stride % width == 0);
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
