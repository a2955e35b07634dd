// Our kernels: what each computes, its least bytes, and its measured shapes. No torch, no CUDA.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::kernels {

// A kernel's problem size. Norms and cross entropy: rows × width. SwiGLU, GeGLU: tokens × F. RoPE: tokens × ((query
// heads + key heads) · D). Fused linear cross entropy: tokens × H with `vocab`. Kernels on single weights (optimizers,
// gradient check, exponent counts, NF4, fp8): 1 × N.
struct Shape {
  std::int64_t rows = 1;
  std::int64_t width = 0;
  std::int64_t vocab = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;  // RoPE
  std::int64_t batch = 0;                              // sequences in `rows`; 0: one
  std::int64_t hidden = 0;                             // hidden size of the MLP around a gate; 0: the gate alone
};

enum class Pass : std::uint8_t { kForward, kBackward };

struct ShapeRequest {
  bool gpu = false;                  // training sizes; if false, tensors just above a CPU's caches
  bool quick = false;                // one shape
  std::int64_t rows = 0, width = 0;  // 0: the kernel's own
};

struct MeasuredShape {
  Shape shape;
  std::string label;         // "Llama 3.2 1B"; may be empty
  std::string storage = {};  // "fp32", "bf16", "fp16"; empty: the requested one
};

struct KernelBench {
  std::string_view axis;
  std::vector<MeasuredShape> (*shapes)(const ShapeRequest& request) = nullptr;  // null: not measured
  bool of_weights = false;     // works in place on weights and allocates nothing
  bool many_launches = false;  // PyTorch's composition needs many small launches
};

// A panel of figures 9 and 10 of the Liger paper (Hsu et al. 2024, arXiv:2410.10989).
struct ReportPanel {
  int place = 0;  // 1: panel (a); 0: no panel
  std::string_view axis;
  std::string_view what;  // what is measured, if more than the kernel: "whole MLP"
  // Ignores the requested rows and width.
  std::vector<MeasuredShape> (*shapes)(const ShapeRequest& request) = nullptr;
  std::int64_t (*x)(const Shape& shape) = nullptr;       // position on the axis
  std::int64_t (*inputs)(const Shape& shape) = nullptr;  // elements of inputs, weights and upstream gradients
};

struct KernelInfo {
  std::string_view id;     // the folder's name
  std::string_view title;  // "AdamW"
  std::string_view formula;
  std::string_view shapes;  // in the shape letters of the lessons
  std::string_view source;  // paper and equation
  // The fewest bytes that a pass moves, with `element_bytes` per element, and its FLOPs. Both are 0 for an absent pass.
  std::int64_t (*bytes)(const Shape& shape, Pass pass, std::int64_t element_bytes);
  std::int64_t (*flops)(const Shape& shape, Pass pass);
  KernelBench bench = {};
  ReportPanel report = {};
};

std::span<const KernelInfo* const> kernels();        // in display order
const KernelInfo* find_kernel(std::string_view id);  // null if unknown
std::vector<const KernelInfo*> report_kernels();     // in the order of the panels

}  // namespace headroom::kernels
