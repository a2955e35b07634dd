// GEMMs of linear layers, and the search for their fastest algorithms before a step runs.
#pragma once

#include <compare>
#include <cstdint>

#include "kernels/fused_linear_cross_entropy/product.h"

namespace headroom::kernels {

enum class LinearPass : std::uint8_t {
  kOutput,          // y [N, O] = x [N, I] Wᵀ
  kInputGradient,   // dx [N, I] = dy [N, O] W
  kWeightGradient,  // dW [O, I] = dyᵀ x
};

// fp8 operands are codes (e5m2 for dy, otherwise e4m3) whose rows in memory run along the sum. y uses `fast_sums`.
enum class LinearFormat : std::uint8_t { kBf16, kFp16, kFp8Codes };

struct LinearProduct {
  LinearPass pass = LinearPass::kOutput;
  LinearFormat format = LinearFormat::kBf16;
  std::int64_t rows = 0, outputs = 0, inputs = 0;  // N, O, I
  auto operator<=>(const LinearProduct&) const = default;
};

// Rows are without gaps; alpha and beta are on the host.
Product product_of(const LinearProduct& linear);

// Times algorithms in memory that it allocates outside LibTorch's allocator.
class ProductTimer {
 public:
  ProductTimer() = default;
  ~ProductTimer();
  ProductTimer(const ProductTimer&) = delete;
  ProductTimer& operator=(const ProductTimer&) = delete;

  // find_algorithm() on random numbers outside the L2, as in a step. 0: found; otherwise an error of product.h, and
  // nothing is kept. Waits for the device.
  int find(const LinearProduct& linear, std::int64_t workspace_bytes);

 private:
  int make(std::int64_t bytes, LinearFormat format);

  void* memory_ = nullptr;
  std::int64_t bytes_ = 0;
  LinearFormat filled_ = LinearFormat::kBf16;
};

}  // namespace headroom::kernels
