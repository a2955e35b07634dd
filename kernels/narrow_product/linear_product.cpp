// Shapes of GEMMs, and scratch memory to time them.
#include "kernels/narrow_product/linear_product.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include <cuda_runtime_api.h>

namespace headroom::kernels {

namespace {

constexpr std::int64_t kAligned = 256;
std::int64_t aligned(std::int64_t bytes) { return (bytes + kAligned - 1) / kAligned * kAligned; }

// Magnitudes from 0.5 to 1, with either sign: zeros take less power, so other algorithms would be fastest.
std::uint16_t random_number(LinearFormat format, std::uint32_t random) {
  switch (format) {
    case LinearFormat::kBf16:
      return static_cast<std::uint16_t>((random & 0x807fu) | 0x3f00u);
    case LinearFormat::kFp16:
      return static_cast<std::uint16_t>((random & 0x83ffu) | 0x3800u);
    case LinearFormat::kFp8Codes:
      break;
  }
  return static_cast<std::uint16_t>((random & 0x8787u) | 0x3030u);  // two codes
}

Fp8Format left_codes(LinearPass pass) { return pass == LinearPass::kOutput ? Fp8Format::kE4m3 : Fp8Format::kE5m2; }

}  // namespace

Product product_of(const LinearProduct& linear) {
  const auto [pass, format, n, o, i] = linear;
  Product product{.operands = format == LinearFormat::kFp16 ? Storage::kFp16 : Storage::kBf16, .host_numbers = true};
  product.result = product.operands;
  switch (pass) {
    case LinearPass::kOutput:
      product.rows = n, product.columns = o, product.inner = i;
      product.b_transposed = true;
      break;
    case LinearPass::kInputGradient:
      product.rows = n, product.columns = i, product.inner = o;
      break;
    case LinearPass::kWeightGradient:
      product.rows = o, product.columns = i, product.inner = n;
      product.a_transposed = true;
      break;
  }
  if (format == LinearFormat::kFp8Codes) {
    product.a_transposed = false;
    product.b_transposed = true;
    product.a_fp8 = left_codes(pass);
    product.b_fp8 = Fp8Format::kE4m3;
    product.fast_sums = pass == LinearPass::kOutput;
  }
  product.a_stride = product.a_transposed ? product.rows : product.inner;
  product.b_stride = product.b_transposed ? product.inner : product.columns;
  product.d_stride = product.columns;
  return product;
}

ProductTimer::~ProductTimer() { cudaFree(memory_); }

int ProductTimer::make(std::int64_t bytes, LinearFormat format) {
  if (bytes <= bytes_ && format == filled_) return 0;
  if (bytes > bytes_) {
    cudaFree(memory_);
    memory_ = nullptr;
    bytes_ = 0;
    if (const cudaError_t error = cudaMalloc(&memory_, static_cast<std::size_t>(bytes)); error != cudaSuccess) {
      (void)cudaGetLastError();  // clears the error, which is not the run's
      return error;
    }
    bytes_ = bytes;
  }
  std::vector<std::uint16_t> numbers(std::size_t{1} << 19);
  std::mt19937 random(1);
  std::ranges::generate(numbers,
                        [&] { return random_number(format, static_cast<std::uint32_t>(random() & 0xffffffffu)); });
  auto* const begin = static_cast<std::byte*>(memory_);
  auto filled = std::min<std::int64_t>(bytes_, static_cast<std::int64_t>(2 * numbers.size()));
  cudaError_t error = cudaMemcpy(begin, numbers.data(), static_cast<std::size_t>(filled), cudaMemcpyHostToDevice);
  for (; error == cudaSuccess && filled < bytes_; filled *= 2)
    error = cudaMemcpy(begin + filled, begin, static_cast<std::size_t>(std::min(filled, bytes_ - filled)),
                       cudaMemcpyDeviceToDevice);
  filled_ = format;
  return error;
}

int ProductTimer::find(const LinearProduct& linear, std::int64_t workspace_bytes) {
  const Product kind = product_of(linear);
  if (algorithm_found(kind)) return 0;
  const std::int64_t element = kind.a_fp8 ? 1 : bytes_of(kind.operands);
  const std::int64_t a = aligned(kind.rows * kind.inner * element), b = aligned(kind.inner * kind.columns * element);
  const std::int64_t all = a + b + aligned(kind.rows * kind.columns * bytes_of(kind.result));
  int device = 0, l2_bytes = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  if (const cudaError_t error = cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device); error != cudaSuccess)
    return error;
  constexpr std::int64_t kMostSets = 6, kScale = kAligned;  // six: the runs of a timing, and one before
  const std::int64_t sets = std::clamp<std::int64_t>(2 * l2_bytes / all + 1, 1, kMostSets);
  if (const int error = make(kScale + aligned(workspace_bytes) + sets * all, linear.format); error != 0) return error;
  static constexpr float kOne = 1, kZero = 0;
  auto* const begin = static_cast<std::byte*>(memory_);
  auto* const scale = reinterpret_cast<float*>(begin);
  if (const cudaError_t error = cudaMemcpy(scale, &kOne, sizeof kOne, cudaMemcpyHostToDevice); error != cudaSuccess)
    return error;
  std::vector<ProductMemory> memories;
  for (std::int64_t set = 0; set < sets; ++set) {
    std::byte* const of_set = begin + kScale + aligned(workspace_bytes) + set * all;
    memories.push_back({.a = of_set,
                        .b = of_set + a,
                        .d = of_set + a + b,
                        .alpha = &kOne,
                        .beta = &kZero,
                        .a_scale = scale,
                        .b_scale = scale,
                        .workspace = begin + kScale,
                        .workspace_bytes = workspace_bytes});
  }
  return find_algorithm(kind, kind, memories, nullptr);
}

}  // namespace headroom::kernels
