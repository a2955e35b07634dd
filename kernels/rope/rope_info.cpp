// RoPE: formula, bytes, FLOPs.
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"

namespace headroom::kernels {

namespace {

std::vector<MeasuredShape> rope_shapes(const ShapeRequest& request) {
  std::vector<MeasuredShape> made;
  for (const LlamaShape& llama : kLlamas) {
    if (request.quick && llama.hidden != 4096) continue;
    made.push_back({.shape = {.rows = rows_or(request, request.gpu ? 8192 : 4096),
                              .width = (llama.heads + llama.kv_heads) * llama.head_dim,
                              .heads = llama.heads,
                              .kv_heads = llama.kv_heads,
                              .head_dim = llama.head_dim},
                    .label = llama.label});
  }
  return made;
}

constexpr std::int64_t kHeads = 32, kKvHeads = 8;  // in the report

std::vector<MeasuredShape> rope_report_shapes(const ShapeRequest& request) {
  std::vector<MeasuredShape> made;
  for (const std::int64_t hidden : kReportLengths) {
    const std::int64_t head_dim = hidden / kHeads;
    made.push_back({.shape = {.rows = 2048,
                              .width = (kHeads + kKvHeads) * head_dim,
                              .heads = kHeads,
                              .kv_heads = kKvHeads,
                              .head_dim = head_dim},
                    .label = {},
                    .storage = request.gpu ? "bf16" : "fp32"});
  }
  return made;
}

std::int64_t report_x(const Shape& shape) { return shape.width * kHeads / (kHeads + kKvHeads); }

}  // namespace

extern const KernelInfo kRope;
constinit const KernelInfo kRope = {
    .id = "rope",
    .title = "RoPE",
    .formula = "(x_j, x_{j+D/2}) ← (x_j cos tθ_j − x_{j+D/2} sin tθ_j, x_{j+D/2} cos tθ_j + x_j sin tθ_j)",
    .shapes = "q [B, T, A, D], k [B, T, K, D] in place, j < D/2; fp32, bf16 or fp16; table and arithmetic in fp32",
    .source = "Su et al. 2021, RoFormer, arXiv:2104.09864, equation 34",
    // Reads and writes q and k; the table stays in caches. Example: 8192 tokens · (32 + 8) heads · 128 in bf16:
    // 2 · 2 B · 4.19e7 = 168e6 B.
    .bytes = [](const Shape& shape, Pass,
                std::int64_t element_bytes) { return 2 * shape.rows * shape.width * element_bytes; },
    // Per pair: four multiplications, two additions.
    .flops = [](const Shape& shape, Pass) { return 3 * shape.rows * shape.width; },
    .bench = {.axis = "model", .shapes = &rope_shapes, .many_launches = true},
    .report = {.place = 6,
               .axis = "hidden size H",
               .what = {},
               .shapes = &rope_report_shapes,
               .x = &report_x,
               .inputs = &two_tensors},
};

}  // namespace headroom::kernels
