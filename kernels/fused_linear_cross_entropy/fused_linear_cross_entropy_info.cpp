// Fused linear cross entropy: formula, bytes, FLOPs.
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"

namespace headroom::kernels {

namespace {

std::vector<MeasuredShape> fused_linear_cross_entropy_shapes(const ShapeRequest& request) {
  struct Size {
    std::int64_t rows, hidden;
  };
  const std::vector<Size> gpu{{4096, 2048}, {8192, 2048}, {16384, 2048}, {8192, 4096}}, cpu{{512, 256}};
  std::vector<MeasuredShape> made;
  for (const Size& size : request.gpu ? gpu : cpu) {
    if (request.quick && request.gpu && (size.rows != 8192 || size.hidden != 2048)) continue;
    made.push_back({.shape = {.rows = rows_or(request, size.rows),
                              .width = request.width > 0 ? request.width : size.hidden,
                              .vocab = request.gpu ? kLlamaVocab : 32768},
                    .label = {}});
    if (request.width > 0 && request.rows > 0) break;  // other sizes would give the same shape
  }
  return made;
}

}  // namespace

extern const KernelInfo kFusedLinearCrossEntropy;
constinit const KernelInfo kFusedLinearCrossEntropy = {
    .id = "fused_linear_cross_entropy",
    .title = "Fused linear cross entropy",
    .formula =
        "loss = cross entropy of x Wᵀ;  dx = dZ W, dW = dZᵀ x, dZ = (softmax − one-hot) / N, one part of Z at a time",
    .shapes = "x, dx [N, H]; W, dW [V, H]; targets [N]; fp32, bf16 or fp16; sums and loss in fp32",
    .source = "Hsu et al. 2024, Liger Kernel, arXiv:2410.10989, section 3.2",
    // Forward moves x, the weight and their gradients once, and the logits five times (written, read, overwritten by
    // their gradient, read by two GEMMs). Example: 8192 tokens · H 4096 · V 128256 in bf16: x and dx 0.13e9 B, weight
    // and dW 2.1e9 B, logits 5 · 2.1e9 B: 12.7e9 B, 2.7 ms at an H200's 4.8e12 B/s, next to 26 ms of arithmetic.
    .bytes = [](const Shape& shape, Pass pass, std::int64_t element_bytes) -> std::int64_t {
      if (pass == Pass::kBackward) return 0;
      const std::int64_t inputs = (shape.rows + shape.vocab) * shape.width, logits = shape.rows * shape.vocab;
      return (2 * inputs + 5 * logits) * element_bytes;
    },
    // Three GEMMs of 2 · N · H · V, 25.8e12 in the example.
    .flops = [](const Shape& shape,
                Pass pass) { return pass == Pass::kForward ? 6 * shape.rows * shape.width * shape.vocab : 0; },
    .bench = {.axis = "tokens N × hidden size H", .shapes = &fused_linear_cross_entropy_shapes},
};

}  // namespace headroom::kernels
