// Our kernels: what each computes and what it must move. Constant data, no torch and no CUDA.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headroom::kernels {

// What a kernel works on, in the letters of its `shapes`. Norms and cross entropy: rows × width. SwiGLU, GeGLU: tokens ×
// F. RoPE: tokens × (query and key heads · D). Fused linear cross entropy: tokens × H with `vocab`. What works on
// single weights, the optimizers, the gradient check, the counts, NF4 and fp8: 1 × N.
struct Shape {
  std::int64_t rows = 1;
  std::int64_t width = 0;
  std::int64_t vocab = 0;
};

enum class Pass : std::uint8_t { kForward, kBackward };

struct KernelInfo {
  std::string_view id;       // "adamw", the folder's name
  std::string_view title;    // "AdamW"
  std::string_view formula;  // as a person writes it
  std::string_view shapes;   // with the letters of the course
  std::string_view source;   // paper and equation
  // What one pass must read and write at least, and its arithmetic, with `element_bytes` bytes per element. A kernel
  // without a backward (an optimizer) answers 0 for it.
  std::int64_t (*bytes)(const Shape& shape, Pass pass, std::int64_t element_bytes);
  std::int64_t (*flops)(const Shape& shape, Pass pass);
};

std::span<const KernelInfo* const> kernels();        // in display order
const KernelInfo* find_kernel(std::string_view id);  // null: unknown

}  // namespace headroom::kernels
