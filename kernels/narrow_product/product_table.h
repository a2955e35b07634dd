// GEMM algorithms as a file, so a machine need not time them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/narrow_product/linear_product.h"

namespace headroom::kernels {

// Times and algorithms are valid for one GPU, driver and cuBLASLt.
struct ProductPlace {
  std::string gpu;       // "NVIDIA H200"
  std::string driver;    // "580.159.04"
  std::string cublaslt;  // "130002"
  bool operator==(const ProductPlace&) const = default;
};

struct ProductTable {
  ProductPlace place;
  std::map<LinearProduct, std::optional<ProductAlgorithm>> algorithms;  // empty: LibTorch's choice is as fast
};

// The place, then a line per GEMM, such as "output,bf16,4096,8192,2048," and eight words in hexadecimal, or "libtorch".
std::string text_of(const ProductTable& table);
std::optional<ProductTable> parse_product_table(std::string_view text);  // empty if invalid

}  // namespace headroom::kernels
