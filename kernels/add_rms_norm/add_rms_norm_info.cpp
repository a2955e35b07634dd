// Residual addition and RMSNorm: formula, bytes, FLOPs.
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"

namespace headroom::kernels {

extern const KernelInfo kAddRmsNorm;
constinit const KernelInfo kAddRmsNorm = {
    .id = "add_rms_norm",
    .title = "Residual addition and RMSNorm",
    .formula =
        "s = x + residual;  r = 1 / √(mean(s²) + ε);  y = s r w.  "
        "Backward: ŝ = s r;  g = dy w;  dx = dresidual = ds + r (g − ŝ mean(g ŝ));  dw = Σ dy ŝ",
    .shapes = "x, residual, s, y [N, H]; w [H]; r [N] fp32; storage fp32, bf16 or fp16, arithmetic in fp32",
    .source = "Zhang and Sennrich 2019, Root Mean Square Layer Normalization, arXiv:1910.07467, equation 4",
    // Forward reads x, residual, w; writes sum, y, rstd. Backward reads dy, sum, d_sum, w, rstd; writes dx, dw.
    // Example: 8192 rows of 4096 in bf16, 268.5e6 B in each pass.
    .bytes =
        [](const Shape& shape, Pass pass, std::int64_t element_bytes) {
          const std::int64_t tensor = shape.rows * shape.width * element_bytes;
          const std::int64_t parameter = shape.width * element_bytes;
          return 4 * tensor + (pass == Pass::kForward ? 1 : 2) * parameter + 4 * shape.rows;
        },
    // RMSNorm's FLOPs and one addition per element.
    .flops = [](const Shape& shape, Pass pass) { return (pass == Pass::kForward ? 5 : 10) * shape.rows * shape.width; },
    .bench = {.axis = "hidden size H", .shapes = &norm_shapes, .many_launches = true},
};

}  // namespace headroom::kernels
