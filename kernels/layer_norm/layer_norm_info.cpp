// LayerNorm: formula, bytes, FLOPs.
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"

namespace headroom::kernels {

namespace {

std::vector<MeasuredShape> layer_norm_report_shapes(const ShapeRequest& request) {
  std::vector<MeasuredShape> layer_norm_shapes;
  for (const std::int64_t hidden : kReportLengths)  // fewer rows on a CPU, to save minutes
    layer_norm_shapes.push_back(
        {.shape = {.rows = request.gpu ? 4096 : 1024, .width = hidden}, .label = {}, .storage = "fp32"});
  return layer_norm_shapes;
}

}  // namespace

extern const KernelInfo kLayerNorm;
constinit const KernelInfo kLayerNorm = {
    .id = "layer_norm",
    .title = "LayerNorm",
    .formula =
        "m = mean(x);  r = 1 / √(mean((x − m)²) + ε);  y = (x − m) r w + b.  "
        "Backward: x̂ = (x − m) r;  g = dy w;  dx = r (g − mean(g) − x̂ mean(g x̂));  dw = Σ dy x̂;  db = Σ dy",
    .shapes = "x, y [N, H]; w, b [H]; m, r [N] fp32; storage fp32, bf16 or fp16, arithmetic in fp32",
    .source = "Ba, Kiros and Hinton 2016, Layer Normalization, arXiv:1607.06450, equation 4",
    // Forward reads x, w, b; writes y, mean, rstd. Backward reads dy, x, w, mean, rstd; writes dx, dw, db. Example: 8192
    // rows of 4096 in bf16, forward 134.3e6 B, backward 201.4e6 B.
    .bytes =
        [](const Shape& shape, Pass pass, std::int64_t element_bytes) {
          const std::int64_t tensor = shape.rows * shape.width * element_bytes;
          const std::int64_t parameter = shape.width * element_bytes;
          const std::int64_t statistics = 8 * shape.rows;
          return pass == Pass::kForward ? 2 * tensor + 2 * parameter + statistics
                                        : 3 * tensor + 3 * parameter + statistics;
        },
    // Per element forward: mean 1, center 1, square and add 2, scale and shift 3. Backward: x̂ 2, g 1, two sums 3, dw 2,
    // db 1, dx 4.
    .flops = [](const Shape& shape, Pass pass) { return (pass == Pass::kForward ? 7 : 13) * shape.rows * shape.width; },
    .bench = {.axis = "hidden size H", .shapes = &norm_shapes, .many_launches = true},
    .report = {.place = 5,
               .axis = "hidden size H",
               .what = {},
               .shapes = &layer_norm_report_shapes,
               .x = &width_of,
               .inputs = &two_tensors},
};

}  // namespace headroom::kernels
