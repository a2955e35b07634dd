// GEMMs with cuBLASLt's fastest algorithm, found once per shape and kept for the process.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/common/storage.h"
#include "kernels/fp8_cast/fp8_cast.h"

namespace headroom::kernels {

// D = alpha · A · B + beta · D, with D [rows, columns], A [rows, inner] and B [inner, columns]. All are row-major, with
// rows `stride` elements apart. A and B have one storage, or both are fp8 codes; for fp8, B is transposed, and at most
// one operand is e5m2. Sums are fp32 unless `fast_sums`.
struct Product {
  std::int64_t rows = 0, columns = 0, inner = 0;
  bool a_transposed = false, b_transposed = false;  // memory holds A as [inner, rows], B as [columns, inner]
  std::int64_t a_stride = 0, b_stride = 0, d_stride = 0;
  Storage operands = Storage::kFp32, result = Storage::kFp32;
  bool tf32 = false;  // fp32 operands are read with 10 fraction bits
  std::optional<Fp8Format> a_fp8, b_fp8;
  bool fast_sums = false;     // fp8: partial sums keep 14 fraction bits
  bool host_numbers = false;  // alpha and beta are in host memory
  auto operator<=>(const Product&) const = default;
};

// Operands, alpha and beta (one fp32 number each), and room for partial sums, which a stream's GEMMs share. All are on
// the device, except alpha and beta with `host_numbers`.
struct ProductMemory {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  const float* alpha = nullptr;
  const float* beta = nullptr;
  const float* a_scale = nullptr;  // fp8: one number on the device
  const float* b_scale = nullptr;
  void* workspace = nullptr;
  std::int64_t workspace_bytes = 0;
};

// An int result is this + cuBLASLt's status, an unchanged CUDA error, or 0 (queued).
inline constexpr int kCublasError = 100'000;

// Queues the GEMM with the algorithm kept for `kind`: find_algorithm()'s, or cuBLASLt's first proposal. Times nothing,
// so a CUDA graph may capture it. GEMMs of slightly different sizes share a kind.
int multiply(const Product& product, const Product& kind, const ProductMemory& memory, CUstream_st* stream);

// True after a search for this kind on the current device.
bool algorithm_found(const Product& kind);

// Times cuBLASLt's proposals and keeps one for `kind`: the fastest, if 2 % faster than the first, otherwise the first.
// Runs `timed`, a GEMM of this kind or smaller, which overwrites d. Several memories, used in turn, keep operands out
// of the L2. Waits for the stream; a no-op during a capture.
int find_algorithm(const Product& timed, const Product& kind, std::span<const ProductMemory> memories,
                   CUstream_st* stream);

// cuBLASLt's own encoding, which only the same version can read.
using ProductAlgorithm = std::array<std::uint64_t, 8>;
// Empty if no search was made.
std::optional<ProductAlgorithm> found_algorithm(const Product& kind);
// Keeps an earlier search's algorithm if it can compute the kind in `workspace_bytes`. Returns 0 if kept.
int keep_algorithm(const Product& kind, const ProductAlgorithm& algorithm, std::int64_t workspace_bytes);
void forget_algorithm(const Product& kind);  // after it failed

std::size_t cublaslt_version();  // such as 130002

}  // namespace headroom::kernels
