// The products of linear layers as cuBLASLt makes them, and the search for the fastest of its algorithms before a step
// runs. No torch.
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

// In fp8 operands are codes, e4m3 but for dy's e5m2, and what the second one holds transposed is transposed in memory; sums of
// y are fast.
enum class LinearFormat : std::uint8_t { kBf16, kFp16, kFp8Codes };

struct LinearProduct {
  LinearPass pass = LinearPass::kOutput;
  LinearFormat format = LinearFormat::kBf16;
  std::int64_t rows = 0, outputs = 0, inputs = 0;  // N, O, I
  auto operator<=>(const LinearProduct&) const = default;
};

// Of matrices without gaps, with alpha and beta on the host.
Product product_of(const LinearProduct& linear);

// Times algorithms on memory of the driver's, which LibTorch's allocator knows nothing of, and gives it back when it dies.
class ProductTimer {
 public:
  ProductTimer() = default;
  ~ProductTimer();
  ProductTimer(const ProductTimer&) = delete;
  ProductTimer& operator=(const ProductTimer&) = delete;

  // find_algorithm() for the product with a workspace of so many bytes, on random numbers that are not in the L2, as a step's
  // weights are not. 0: found; else an error of product.h, and nothing is kept. Waits for the device.
  int find(const LinearProduct& linear, std::int64_t workspace_bytes);

 private:
  int make(std::int64_t bytes, LinearFormat format);

  void* memory_ = nullptr;
  std::int64_t bytes_ = 0;
  LinearFormat filled_ = LinearFormat::kBf16;
};

}  // namespace headroom::kernels
