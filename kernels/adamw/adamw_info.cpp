// AdamW: formula, bytes, FLOPs.
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"

namespace headroom::kernels {

extern const KernelInfo kAdamw;
constinit const KernelInfo kAdamw = {
    .id = "adamw",
    .title = "AdamW",
    .formula =
        "m = β1 m + (1 − β1) g;  v = β2 v + (1 − β2) g²;  "
        "p = (1 − η λ) p − η (m / (1 − β1^t)) / (√(v / (1 − β2^t)) + ε)",
    .shapes =
        "p, g, m, v [N], all tensors of a model in one launch; p fp32, bf16 or fp16, g like p or fp32, m and v fp32 or "
        "bf16; arithmetic in fp32",
    .source = "Loshchilov and Hutter 2019, Decoupled Weight Decay Regularization, arXiv:1711.05101, Algorithm 2",
    // Reads p, g, m, v and writes p, m, v, all of one type. Example: Llama 3.2 1B in bf16: 7 · 2 B · 1.236e9 = 17.3e9
    // B, 3.6 ms at an H200's 4.8e12 B/s.
    .bytes =
        [](const Shape& shape, Pass pass, std::int64_t element_bytes) {
          return pass == Pass::kForward ? 7 * shape.rows * shape.width * element_bytes : 0;
        },
    // Per element: first moment 3, second moment 4, denominator 3 (one square root), update 4 (one division).
    .flops = [](const Shape& shape, Pass pass) { return pass == Pass::kForward ? 14 * shape.rows * shape.width : 0; },
    .bench = {.axis = "parameters", .shapes = &weight_shapes, .of_weights = true},
};

}  // namespace headroom::kernels
