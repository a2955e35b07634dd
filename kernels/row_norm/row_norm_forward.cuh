// Forward pass of the row norms: a row stays in the registers of its group, read and written once.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/row_norm/row_norm_parts.cuh"
#include "kernels/row_norm/row_norm_wide.cuh"

namespace headroom::kernels::row_norm {

// Measured on an H200, bf16 rows of 2048 to 16384: 2 or 8 vectors, and fewer blocks, are slower.
constexpr int kForwardVectors = 4;  // of a row, per thread

// The most threads per block and the blocks per multiprocessor, which together limit the registers, and whether caches
// evict x and y first.
template <int kMostThreads, int kBlocksOfProcessor, bool kLeavesCaches>
struct ForwardCut {
  static constexpr int kThreads = kMostThreads, kBlocks = kBlocksOfProcessor;
  static constexpr bool kStreams = kLeavesCaches;
};
using PlainForward = ForwardCut<kBlockThreads, 3, false>;  // 40 registers
// LayerNorm on an H200, in percentage points of a copy's speed. bf16 rows of 2048 and 4096: LayerForward is 1.6 faster
// than the plain cut; 128 threads are 17 to 21 slower, persistent blocks 4 to 9. Rows of 8192 would be 5 slower with
// LayerForward, so they use the plain cut. fp32 rows of more than 8192: WidestForward is a seventh to a quarter faster
// than one block per multiprocessor, which idles while a row's sums are exchanged.
using LayerForward = ForwardCut<256, 6, true>;               // 40 registers
using WidestForward = ForwardCut<kWidestThreads, 2, false>;  // 32 registers

// Mean and 1 / √(variance + ε) of a group's row, with one barrier. Every warp squares differences from a pivot near its
// own mean, and the warps' parts are combined after Chan, Golub and LeVeque 1979, equation 2.1b. The pivot is the mean
// of the warp's first vector, at most √(n / elements of a vector) standard deviations from the mean of the warp's n ≤
// 1024 elements. The difference of squares loses at most 7 of fp32's 24 bits.
template <typename T, int kVectors>
__device__ __forceinline__ float2 group_moments(uint4 (&x)[kVectors], int row_vectors, float width, float epsilon,
                                                float4* memory) {
  constexpr int kWidth = kElements<T>;
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  float pivot = 0;
  const Numbers<T> first(x[0]);
#pragma unroll
  for (int e = 0; e < kWidth; ++e) pivot += first.at[e];
  pivot = __shfl_sync(0xffffffffu, pivot, 0) / kWidth;

  float sum = 0, square = 0;
  int vectors = 0;  // of this warp
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    vectors += max(0, min(kWarp, row_vectors - static_cast<int>(v * blockDim.x + warp * kWarp)));
    if (v * blockDim.x + threadIdx.x >= row_vectors) continue;
    keep_packed(x[v]);
    const Numbers<T> numbers(x[v]);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      const float beside = numbers.at[e] - pivot;
      sum += beside;
      square += beside * beside;
    }
  }
  const float count = static_cast<float>(vectors * kWidth);
  sum = warp_sum(sum);
  const float beside = sum / fmaxf(count, 1.0f);
  square = warp_sum(square) - sum * beside;
  if (square < 0) square = 0;  // by rounding, if all elements are equal; NaN stays
  if (warps == 1) return {pivot + beside, rsqrtf(square / width + epsilon)};

  float4* const part = memory + threadIdx.y * warps;
  if (threadIdx.x % kWarp == 0) part[warp] = make_float4(count, pivot + beside, square, 0);
  group_barrier();
  float mean = 0;
  for (int i = 0; i < warps; ++i) mean += part[i].x * part[i].y;
  mean /= width;
  float row_square = 0;
  for (int i = 0; i < warps; ++i) {
    const float4 p = part[i];
    row_square += p.z + p.x * (p.y - mean) * (p.y - mean);
  }
  return {mean, rsqrtf(row_square / width + epsilon)};
}

template <typename T, int kVectors>
__device__ __forceinline__ float group_rstd(const uint4 (&x)[kVectors], float width, float epsilon, float4* memory) {
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  float square = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const Numbers<T> numbers(x[v]);
#pragma unroll
    for (int e = 0; e < kElements<T>; ++e) square += numbers.at[e] * numbers.at[e];
  }
  square = warp_sum(square);
  if (warps > 1) {
    float* const part = reinterpret_cast<float*>(memory) + threadIdx.y * warps;
    if (threadIdx.x % kWarp == 0) part[warp] = square;
    group_barrier();
    square = 0;
    for (int i = 0; i < warps; ++i) square += part[i];
  }
  return rsqrtf(square / width + epsilon);
}

// While some of the many small groups wait for a sum, others load.
template <typename T, NormKind kKind, typename Cut>
__global__ void __launch_bounds__(Cut::kThreads, Cut::kBlocks) forward_kernel(NormForward norm) {
  constexpr int kVectors = kForwardVectors;
  constexpr int kWidth = kElements<T>;
  constexpr bool kAdd = kKind == NormKind::kAddRms;
  constexpr bool kMean = kKind == NormKind::kLayer;
  __shared__ float4 memory[Cut::kThreads / kWarp];
  const int row_vectors = static_cast<int>(norm.width / kWidth);
  const auto width = static_cast<float>(norm.width);
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= norm.rows) return;
  const std::int64_t begin = row * row_vectors;

  uint4 x[kVectors], residual[kAdd ? kVectors : 1];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = v * blockDim.x + threadIdx.x;
    const bool there = column < row_vectors;
    const uint4* const place = static_cast<const uint4*>(norm.x) + begin + column;
    x[v] = !there ? uint4{} : Cut::kStreams ? __ldcs(place) : *place;
    if constexpr (kAdd) residual[v] = there ? static_cast<const uint4*>(norm.residual)[begin + column] : uint4{};
  }
  if constexpr (kAdd) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      Numbers<T> sum(x[v]);
      const Numbers<T> other(residual[v]);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sum.at[e] += other.at[e];
      x[v] = sum.packed();
      const int column = v * blockDim.x + threadIdx.x;
      if (column < row_vectors) static_cast<uint4*>(norm.sum)[begin + column] = x[v];
    }
  }

  float mean = 0, rstd;
  if constexpr (kMean) {
    const float2 moments = group_moments<T>(x, row_vectors, width, norm.epsilon, memory);
    mean = moments.x;
    rstd = moments.y;
  } else if constexpr (kKind == NormKind::kRebuildRms) {
    rstd = norm.rstd[row];
  } else {
    rstd = group_rstd<T>(x, width, norm.epsilon, memory);
  }
  if (kKind != NormKind::kRebuildRms && threadIdx.x == 0) {
    norm.rstd[row] = rstd;
    if constexpr (kMean) norm.mean[row] = mean;
  }

  const float shift = -mean * rstd;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = v * blockDim.x + threadIdx.x;
    if (column >= row_vectors) continue;
    keep_packed(x[v]);
    Numbers<T> y(x[v]);
    const Numbers<T> weight(__ldg(static_cast<const uint4*>(norm.weight) + column));
    if constexpr (kMean) {
      const Numbers<T> bias(__ldg(static_cast<const uint4*>(norm.bias) + column));
#pragma unroll
      for (int e = 0; e < kWidth; ++e) y.at[e] = (y.at[e] * rstd + shift) * weight.at[e] + bias.at[e];
    } else {
#pragma unroll
      for (int e = 0; e < kWidth; ++e) y.at[e] = y.at[e] * rstd * weight.at[e];
    }
    uint4* const out = static_cast<uint4*>(norm.y) + begin + column;
    if constexpr (Cut::kStreams) {
      __stcs(out, y.packed());
    } else {
      *out = y.packed();
    }
  }
}

template <typename T, NormKind kKind, typename Cut>
int launch_forward_rows(const NormForward& norm, cudaStream_t stream) {
  const dim3 block = cut(norm.width / kElements<T>, kForwardVectors, Cut::kThreads);
  forward_kernel<T, kKind, Cut><<<blocks_for(norm.rows, block), block, 0, stream>>>(norm);
  return cudaGetLastError();
}

template <typename T, NormKind kKind>
int launch_forward(const NormForward& norm, cudaStream_t stream) {
  const std::int64_t row_vectors = norm.width / kElements<T>;
  const bool whole = norm.width % kElements<T> == 0 && aligned(norm.x) && aligned(norm.residual) &&
                     aligned(norm.weight) && aligned(norm.bias) && aligned(norm.sum) && aligned(norm.y);
  const auto fits = [&](int threads) { return whole && row_vectors <= kForwardVectors * threads; };
  if constexpr (kKind == NormKind::kLayer) {
    if (fits(LayerForward::kThreads / 2)) return launch_forward_rows<T, kKind, LayerForward>(norm, stream);
  }
  if (fits(PlainForward::kThreads)) return launch_forward_rows<T, kKind, PlainForward>(norm, stream);
  if constexpr (kKind == NormKind::kLayer && std::is_same_v<T, float>) {
    if (fits(WidestForward::kThreads)) return launch_forward_rows<T, kKind, WidestForward>(norm, stream);
  }
  return launch_wide_forward<T, kKind>(norm, stream);
}

}  // namespace headroom::kernels::row_norm
