// Algorithms of products as a file, so that a machine need not time them: for one GPU, one driver and one cuBLASLt.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/narrow_product/linear_product.h"

namespace headroom::kernels {

// What the times, and cuBLASLt's names of its algorithms, are of.
struct ProductPlace {
  std::string gpu;       // "NVIDIA H200"
  std::string driver;    // "580.159.04"
  std::string cublaslt;  // "130002"
  bool operator==(const ProductPlace&) const = default;
};

struct ProductTable {
  ProductPlace place;
  std::map<LinearProduct, std::optional<ProductAlgorithm>> algorithms;  // nothing: LibTorch's choice is as fast
};

// Lines of text: the place, then a product each, as "output,bf16,4096,8192,2048," and eight words in hexadecimal, or
// "libtorch".
std::string text_of(const ProductTable& table);
std::optional<ProductTable> parse_product_table(std::string_view text);  // nothing: it is no such table

}  // namespace headroom::kernels
