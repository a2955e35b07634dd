// Kernels of our own: what each computes and what it must move. Constant data, no torch and no CUDA.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headroom::kernels {

struct KernelInfo {
  std::string_view id;       // "adamw", the folder's name
  std::string_view title;    // "AdamW"
  std::string_view formula;  // as a person writes it
  std::string_view shapes;   // with the letters of the course
  std::string_view source;   // paper and equation
  // What one call must read and write at least, and its arithmetic, for `n` elements of `element_bytes` bytes.
  std::int64_t (*bytes)(std::int64_t n, std::int64_t element_bytes);
  std::int64_t (*flops)(std::int64_t n);
};

std::span<const KernelInfo* const> kernels();        // in display order
const KernelInfo* find_kernel(std::string_view id);  // null: unknown

}  // namespace headroom::kernels
