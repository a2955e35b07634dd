// Measured shapes that several kernels share: models, and series of widths.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace headroom::kernels {

struct LlamaShape {
  const char* label;
  std::int64_t hidden, intermediate, heads, kv_heads, head_dim;
};
inline constexpr std::array kLlamas{
    LlamaShape{"Llama 3.2 1B", 2048, 8192, 32, 8, 64},
    LlamaShape{"Llama 3.2 3B", 3072, 8192, 24, 8, 128},
    LlamaShape{"Llama 3 8B", 4096, 14336, 32, 8, 128},
};
inline constexpr std::int64_t kLlamaVocab = 128256;

inline constexpr std::array<std::int64_t, 4> kReportLengths{4096, 8192, 12288, 16384};  // tokens, or hidden sizes

std::int64_t rows_or(const ShapeRequest& request, std::int64_t rows);

// One shape per width: of all `widths`, the requested one, or (quick) the middle one. `rows` 0: enough for 64 MiB in
// fp32.
std::vector<MeasuredShape> shapes_by_width(const ShapeRequest& request, std::int64_t rows,
                                           std::vector<std::int64_t> widths);
std::vector<MeasuredShape> norm_shapes(const ShapeRequest& request);
std::vector<MeasuredShape> gated_shapes(const ShapeRequest& request);
std::vector<MeasuredShape> weight_shapes(const ShapeRequest& request);

// None on a CPU, where the GEMMs of a whole MLP would take minutes.
std::vector<MeasuredShape> mlp_report_shapes(const ShapeRequest& request);
std::int64_t mlp_report_x(const Shape& shape);
std::int64_t mlp_report_inputs(const Shape& shape);
inline std::int64_t width_of(const Shape& shape) { return shape.width; }
inline std::int64_t two_tensors(const Shape& shape) { return 2 * shape.rows * shape.width; }

}  // namespace headroom::kernels
