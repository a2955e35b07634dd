// Computes    D = alpha · A · B, optionally added to D, with fp8 or tf32 operands that the GPU does not support
// Shapes      A [M, K], B [K, N], D [M, N], row-major; fp32 operands may be transposed in memory; B in fp8 always is
// Precision   fp8 codes are exact in fp32; fp32 operands are rounded to 10 fraction bits. Sums are fp32. A bf16 result
//             is rounded before and after it is added to D, as by cuBLASLt
// Memory      operands are converted on their way to shared memory. Example: 4,096 × 2,048 × 2,048: 3.4e10 operations,
//             2 ms at an A100's 19.5e12 per second
// Variants    one: tiles of 64 × 64, 16 of K at a time, a square of 4 × 4 per thread
// Source      Nath, Tomov and Dongarra 2010, "An improved MAGMA GEMM for Fermi GPUs", doi:10.1177/1094342010385729
// Checked by  tests/kernels/products/emulated_product_gpu_test.cpp
#include <cstdint>

#include "kernels/common/storage.cuh"
#include "kernels/narrow_product/emulated_product.h"

namespace headroom::kernels {

namespace {

constexpr int kTile = 64;   // side of D's tile
constexpr int kDepth = 16;  // elements of K at a time
constexpr int kSquare = 4;  // side of a thread's part of D
constexpr int kAcross = kTile / kSquare;
constexpr int kThreads = kAcross * kAcross;
constexpr int kPitch = kTile + 4;  // keeps 16-byte pieces whole and rows in different banks

struct Fp8Numbers {
  Fp8Format format;
  __device__ float operator()(std::uint8_t code) const { return fp8_value(format, code); }
};

// Rounds to 10 fraction bits, nearest, ties away from zero, like tensor cores (PTX: cvt.rna.tf32.f32). Infinity and NaN
// stay.
struct Tf32Numbers {
  __device__ float operator()(float value) const {
    const std::uint32_t bits = bits_of(value);
    return is_finite(value) ? float_of((bits + 0x1000u) & ~0x1fffu) : value;
  }
};

// Element (i, k) of an operand, where k runs along the sum.
template <typename T, typename Numbers>
struct Operand {
  const T* elements;
  std::int64_t stride;    // between rows in memory
  bool sum_runs_in_rows;  // memory holds [i, k], not [k, i]
  Numbers numbers;

  // Loads strip[k][i], with zeros past the ends. Neighboring threads read neighboring elements.
  __device__ void load_strip(float (&strip)[kDepth][kPitch], std::int64_t first_i, std::int64_t i_end,
                             std::int64_t first_k, std::int64_t k_end) const {
    for (int at = static_cast<int>(threadIdx.x); at < kTile * kDepth; at += kThreads) {
      const int i = sum_runs_in_rows ? at / kDepth : at % kTile;
      const int k = sum_runs_in_rows ? at % kDepth : at / kTile;
      const std::int64_t row = first_i + i, column = first_k + k;
      const bool inside = row < i_end && column < k_end;
      const std::int64_t place = sum_runs_in_rows ? row * stride + column : column * stride + row;
      strip[k][i] = inside ? numbers(elements[place]) : 0.0f;
    }
  }
};

__device__ __forceinline__ void put(float& place, float value, bool adds) { place = adds ? place + value : value; }
__device__ __forceinline__ void put(Bf16& place, float value, bool adds) {
  const float before = load(place);
  store(place, value);
  if (adds) store(place, load(place) + before);
}

template <typename A, typename B, typename Result>
__global__ void __launch_bounds__(kThreads)
    product_kernel(const A a, const B b, Result* d, const Product p, float alpha, const float* a_scale,
                   const float* b_scale, bool adds) {
  __shared__ __align__(16) float a_strip[kDepth][kPitch], b_strip[kDepth][kPitch];
  const int down = static_cast<int>(threadIdx.x) / kAcross * kSquare;
  const int across = static_cast<int>(threadIdx.x) % kAcross * kSquare;
  const std::int64_t first_row = std::int64_t{blockIdx.y} * kTile, first_column = std::int64_t{blockIdx.x} * kTile;
  float sums[kSquare][kSquare] = {};
  for (std::int64_t k = 0; k < p.inner; k += kDepth) {
    a.load_strip(a_strip, first_row, p.rows, k, p.inner);
    b.load_strip(b_strip, first_column, p.columns, k, p.inner);
    __syncthreads();
#pragma unroll
    for (int step = 0; step < kDepth; ++step) {
      const float4 of_a = *reinterpret_cast<const float4*>(&a_strip[step][down]);
      const float4 of_b = *reinterpret_cast<const float4*>(&b_strip[step][across]);
      const float left[kSquare] = {of_a.x, of_a.y, of_a.z, of_a.w}, right[kSquare] = {of_b.x, of_b.y, of_b.z, of_b.w};
#pragma unroll
      for (int i = 0; i < kSquare; ++i)
#pragma unroll
        for (int j = 0; j < kSquare; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
    }
    __syncthreads();
  }
  const float factor = a_scale == nullptr ? alpha : alpha * *a_scale * *b_scale;
#pragma unroll
  for (int i = 0; i < kSquare; ++i)
#pragma unroll
    for (int j = 0; j < kSquare; ++j) {
      const std::int64_t row = first_row + down + i, column = first_column + across + j;
      if (row < p.rows && column < p.columns) put(d[row * p.d_stride + column], factor * sums[i][j], adds);
    }
}

template <typename Result, typename T, typename Numbers>
int launch(const Product& p, const ProductMemory& memory, const Numbers& of_a, const Numbers& of_b,
           CUstream_st* stream) {
  const Operand<T, Numbers> a{static_cast<const T*>(memory.a), p.a_stride, !p.a_transposed, of_a};
  const Operand<T, Numbers> b{static_cast<const T*>(memory.b), p.b_stride, p.b_transposed, of_b};
  const dim3 blocks(static_cast<unsigned>((p.columns + kTile - 1) / kTile),
                    static_cast<unsigned>((p.rows + kTile - 1) / kTile));
  product_kernel<<<blocks, kThreads, 0, stream>>>(a, b, static_cast<Result*>(memory.d), p, *memory.alpha,
                                                  memory.a_scale, memory.b_scale, *memory.beta != 0);
  return cudaGetLastError();
}

}  // namespace

int multiply_emulated(const Product& p, const ProductMemory& memory, CUstream_st* stream) {
  if (p.a_fp8) return launch<Bf16, std::uint8_t>(p, memory, Fp8Numbers{*p.a_fp8}, Fp8Numbers{*p.b_fp8}, stream);
  return launch<float, float>(p, memory, Tf32Numbers{}, Tf32Numbers{}, stream);
}

}  // namespace headroom::kernels
