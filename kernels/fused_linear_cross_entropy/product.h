// Matrix products by cuBLASLt with the fastest of its algorithms, found once a shape and kept for the process. No torch.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/common/storage.h"
#include "kernels/fp8_cast/fp8_cast.h"

struct CUstream_st;

namespace headroom::kernels {

// D = alpha · A · B + beta · D. D [rows, columns]; A [rows, inner] and B [inner, columns], or their transposes in memory:
// all row by row, `stride` elements from one row in memory to the next. A and B have one storage, or both are codes of fp8,
// not both e5m2, with B transposed; sums are fp32 unless they are asked to be fast.
struct Product {
  std::int64_t rows = 0, columns = 0, inner = 0;
  bool a_transposed = false, b_transposed = false;  // memory holds [inner, rows], [columns, inner]
  std::int64_t a_stride = 0, b_stride = 0, d_stride = 0;
  Storage operands = Storage::kFp32, result = Storage::kFp32;
  bool tf32 = false;  // fp32 operands are read with 10 bits of fraction
  std::optional<Fp8Format> a_fp8, b_fp8;
  bool fast_sums = false;     // of fp8: partial sums keep 14 bits of fraction
  bool host_numbers = false;  // alpha and beta are in the host's memory
  auto operator<=>(const Product&) const = default;
};

// Device memory: the operands, alpha and beta (one fp32 number each; the host's with `host_numbers`), and room for partial
// sums, which all products of a stream share.
struct ProductMemory {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  const float* alpha = nullptr;
  const float* beta = nullptr;
  const float* a_scale = nullptr;  // of fp8, one number each on the device: the codes are multiplied by it
  const float* b_scale = nullptr;
  void* workspace = nullptr;
  std::int64_t workspace_bytes = 0;
};

// Errors of cuBLASLt come back as this + its status, errors of CUDA as they are; 0: queued.
inline constexpr int kCublasError = 100'000;

// Queues the product with the algorithm kept for products like `kind`: what find_algorithm() found, else the first that
// cuBLASLt proposed. Nothing is timed here, so a capture is safe. Products of slightly different sizes share a kind.
int multiply(const Product& product, const Product& kind, const ProductMemory& memory, CUstream_st* stream);

// Whether an algorithm was searched for this kind on the current device.
bool algorithm_found(const Product& kind);

// Times what cuBLASLt proposes and keeps the fastest for `kind`; its first proposal, unless another one is 2 % faster. Runs
// `timed`, a product of the kind or a smaller one, several times and on each memory in turn, so d is overwritten; with
// several, what one run left in the L2 is not what the next one reads. Waits for the stream. Does nothing during a capture.
int find_algorithm(const Product& timed, const Product& kind, std::span<const ProductMemory> memories,
                   CUstream_st* stream);

// As cuBLASLt stores an algorithm: good for this version of it alone.
using ProductAlgorithm = std::array<std::uint64_t, 8>;
// What find_algorithm() found for the kind; nothing: it was not asked.
std::optional<ProductAlgorithm> found_algorithm(const Product& kind);
// Keeps what was found another time, if it can make the kind with so much workspace. 0: kept.
int keep_algorithm(const Product& kind, const ProductAlgorithm& algorithm, std::int64_t workspace_bytes);
void forget_algorithm(const Product& kind);  // after it failed

std::size_t cublaslt_version();  // 130002

}  // namespace headroom::kernels
