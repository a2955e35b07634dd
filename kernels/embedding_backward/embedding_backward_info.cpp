// Embedding gradient: formula, bytes, FLOPs.
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"

namespace headroom::kernels {

namespace {

std::vector<MeasuredShape> embedding_backward_shapes(const ShapeRequest& request) {
  std::vector<MeasuredShape> made;
  for (const std::int64_t hidden : {2048, 4096}) {
    if (hidden != 2048 && (request.quick || request.width > 0 || !request.gpu)) continue;
    const std::int64_t own = request.gpu ? hidden : 512;
    made.push_back({.shape = {.rows = rows_or(request, 8192),
                              .width = request.width > 0 ? request.width : own,
                              .vocab = kLlamaVocab},
                    .label = {}});
  }
  return made;
}

}  // namespace

extern const KernelInfo kEmbeddingBackward;
constinit const KernelInfo kEmbeddingBackward = {
    .id = "embedding_backward",
    .title = "Embedding gradient",
    .formula = "dW[v] = Σ dy[n] over the tokens n with id v",
    .shapes = "dy [N, H], ids [N], dW [V, H]; fp32, bf16 or fp16, dW also fp32; sums in fp32",
    .source =
        "the chain rule for y[n] = W[id n]; sorted by id instead of float atomics, so that every run gives the same "
        "bits",
    // Backward only: reads dy and the ids, writes dweight. Example: 8192 tokens, H 2048, V 128256 in bf16:
    // 2 B · 2048 · (8192 + 128256) = 559e6 B, 94 % of them zeros.
    .bytes = [](const Shape& shape, Pass pass, std::int64_t element_bytes) -> std::int64_t {
      if (pass == Pass::kForward) return 0;
      return (shape.rows + shape.vocab) * shape.width * element_bytes + shape.rows * std::int64_t{sizeof(std::int64_t)};
    },
    // One addition per element of dy.
    .flops = [](const Shape& shape, Pass pass) { return pass == Pass::kForward ? 0 : shape.rows * shape.width; },
    .bench = {.axis = "tokens N × hidden size H", .shapes = &embedding_backward_shapes},
};

}  // namespace headroom::kernels
