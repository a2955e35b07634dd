// RMSNorm: formula, bytes, FLOPs.
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"

namespace headroom::kernels {

namespace {

std::vector<MeasuredShape> rms_norm_report_shapes(const ShapeRequest& request) {
  std::vector<MeasuredShape> rms_norm_shapes;
  for (const std::int64_t hidden : kReportLengths)
    rms_norm_shapes.push_back(
        {.shape = {.rows = 2048, .width = hidden}, .label = {}, .storage = request.gpu ? "bf16" : "fp32"});
  return rms_norm_shapes;
}

}  // namespace

extern const KernelInfo kRmsNorm;
constinit const KernelInfo kRmsNorm = {
    .id = "rms_norm",
    .title = "RMSNorm",
    .formula =
        "r = 1 / √(mean(x²) + ε);  y = x r w.  "
        "Backward: x̂ = x r;  g = dy w;  dx = r (g − x̂ mean(g x̂));  dw = Σ dy x̂",
    .shapes = "x, y [N, H]; w [H]; r [N] fp32; storage fp32, bf16 or fp16, arithmetic in fp32",
    .source = "Zhang and Sennrich 2019, Root Mean Square Layer Normalization, arXiv:1910.07467, equation 4",
    // Forward reads x, w; writes y, rstd. Backward reads dy, x, w, rstd; writes dx, dw. Example: 8192 rows of 4096 in
    // bf16, forward 134.3e6 B (28 µs at an H200's 4.8e12 B/s), backward 201.4e6 B.
    .bytes =
        [](const Shape& shape, Pass pass, std::int64_t element_bytes) {
          const std::int64_t tensor = shape.rows * shape.width * element_bytes;
          const std::int64_t parameter = shape.width * element_bytes;
          return pass == Pass::kForward ? 2 * tensor + parameter + 4 * shape.rows
                                        : 3 * tensor + 2 * parameter + 4 * shape.rows;
        },
    // Per element forward: square and add 2, scale 2. Backward: x̂ 1, g 1, its sum with x̂ 2, dw 2, dx 3.
    .flops = [](const Shape& shape, Pass pass) { return (pass == Pass::kForward ? 4 : 9) * shape.rows * shape.width; },
    .bench = {.axis = "hidden size H", .shapes = &norm_shapes, .many_launches = true},
    .report = {.place = 4,
               .axis = "hidden size H",
               .what = {},
               .shapes = &rms_norm_report_shapes,
               .x = &width_of,
               .inputs = &two_tensors},
};

}  // namespace headroom::kernels
