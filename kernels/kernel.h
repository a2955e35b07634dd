// Our kernels: what each computes, what it must move, and at which shapes it is measured. Constant data, no torch and no
// CUDA.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::kernels {

// What a kernel works on, in the letters of its `shapes`. Norms and cross entropy: rows × width. SwiGLU, GeGLU: tokens ×
// F. RoPE: tokens × (query and key heads · D). Fused linear cross entropy: tokens × H with `vocab`. What works on
// single weights, the optimizers, the gradient check, the counts, NF4 and fp8: 1 × N.
struct Shape {
  std::int64_t rows = 1;
  std::int64_t width = 0;
  std::int64_t vocab = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;  // RoPE
  std::int64_t batch = 0;                              // sequences in `rows`; 0: one
  std::int64_t hidden = 0;                             // of the whole MLP around a gate; 0: the gate alone
};

enum class Pass : std::uint8_t { kForward, kBackward };

// What the benchmark wants to be measured.
struct ShapeRequest {
  bool gpu = false;                  // sizes that training has; else tensors just too large for a CPU's caches
  bool quick = false;                // one shape
  std::int64_t rows = 0, width = 0;  // in place of the kernel's; 0: those
};

struct MeasuredShape {
  Shape shape;
  std::string label;         // "Llama 3.2 1B"; empty where the numbers say it
  std::string storage = {};  // "fp32", "bf16", "fp16"; empty: as was asked for
};

// How the benchmark measures a kernel.
struct KernelBench {
  std::string_view axis;  // "hidden size H": what changes from shape to shape
  std::vector<MeasuredShape> (*shapes)(const ShapeRequest& request) = nullptr;  // null: it is not measured
  bool of_weights = false;     // works on weights in place, whatever their shape, and takes no memory
  bool many_launches = false;  // composed of PyTorch's operators it is many small launches within a layer
};

// A panel of figures 9 and 10 of the Liger paper (Hsu et al. 2024, arXiv:2410.10989).
struct ReportPanel {
  int place = 0;          // 1: (a); 0: the kernel has none
  std::string_view axis;  // as KernelBench's
  std::string_view what;  // more than the kernel alone: "whole MLP"
  // Without regard to the requested rows and width.
  std::vector<MeasuredShape> (*shapes)(const ShapeRequest& request) = nullptr;
  std::int64_t (*x)(const Shape& shape) = nullptr;       // on the axis
  std::int64_t (*inputs)(const Shape& shape) = nullptr;  // elements of inputs, weights and upstream gradients
};

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
  KernelBench bench = {};
  ReportPanel report = {};
};

std::span<const KernelInfo* const> kernels();        // in display order
const KernelInfo* find_kernel(std::string_view id);  // null: unknown
std::vector<const KernelInfo*> report_kernels();     // with a panel in the report, in its order

}  // namespace headroom::kernels
