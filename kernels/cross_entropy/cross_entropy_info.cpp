// Cross entropy: formula, bytes, FLOPs.
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"

namespace headroom::kernels {

namespace {

std::vector<MeasuredShape> cross_entropy_shapes(const ShapeRequest& request) {
  if (request.gpu) return shapes_by_width(request, 8192, {40960, 81920, kLlamaVocab, 163840, 262144});
  return shapes_by_width(request, 256, {81920, kLlamaVocab});
}

std::vector<MeasuredShape> cross_entropy_report_shapes(const ShapeRequest& request) {
  std::vector<MeasuredShape> made;
  for (const std::int64_t vocab : {40960, 81920, 122880, 163840})  // fewer rows on a CPU, to save minutes
    made.push_back({.shape = {.rows = request.gpu ? 8 * 2048 : 128, .width = vocab}, .label = {}, .storage = "fp32"});
  return made;
}

std::int64_t report_inputs(const Shape& shape) { return shape.rows * shape.width; }

}  // namespace

extern const KernelInfo kCrossEntropy;
constinit const KernelInfo kCrossEntropy = {
    .id = "cross_entropy",
    .title = "Cross entropy",
    .formula = "loss = log Σ_j e^(x_j) − x_t;  dx_j = e^(x_j) / Σ − [j = t], in place",
    .shapes = "x, dx [N, V]; targets [N]; fp32, bf16 or fp16; arithmetic and loss in fp32",
    .source = "Milakov and Gimelshein 2018, Online normalizer calculation for softmax, arXiv:1805.02867",
    // Forward reads the logits and overwrites them with their gradient; backward moves nothing. Example: 8192 tokens ·
    // V 128256 in bf16: 2 · 2 B · 1.05e9 = 4.2e9 B, 0.88 ms at an H200's 4.8e12 B/s.
    .bytes =
        [](const Shape& shape, Pass pass, std::int64_t element_bytes) {
          return pass == Pass::kForward ? 2 * shape.rows * shape.width * element_bytes : 0;
        },
    // Per logit: maximum 1; difference, exponential and sum 3; gradient 4.
    .flops = [](const Shape& shape, Pass pass) { return pass == Pass::kForward ? 8 * shape.rows * shape.width : 0; },
    .bench = {.axis = "vocabulary V", .shapes = &cross_entropy_shapes, .many_launches = true},
    .report = {.place = 1,
               .axis = "vocabulary V",
               .what = {},
               .shapes = &cross_entropy_report_shapes,
               .x = &width_of,
               .inputs = &report_inputs},
};

}  // namespace headroom::kernels
