// AdamW with 8-bit moments: formula, bytes, FLOPs.
#include "kernels/adamw_8bit/adamw_8bit.h"
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"

namespace headroom::kernels {

extern const KernelInfo kAdamw8bit;
constinit const KernelInfo kAdamw8bit = {
    .id = "adamw_8bit",
    .title = "8-bit AdamW",
    .formula =
        "m = β1 a_m q(c_m) + (1 − β1) g;  v = β2 a_v q(c_v) + (1 − β2) g²;  p as in AdamW;  "
        "a = max |x| of 256 elements, c = the code whose q(c) is nearest to x / a",
    .shapes =
        "p, g [N] fp32, bf16 or fp16; c_m, c_v uint8 [N]; a_m, a_v fp32 [N/256]; arithmetic in fp32, moments in fp32 "
        "only in registers",
    .source =
        "Dettmers, Lewis, Shleifer and Zettlemoyer 2022, 8-bit Optimizers via Block-wise Quantization, "
        "arXiv:2110.02861, sections 1.3 and 2",
    // Reads p and g, writes p; reads and writes two codes per element and two fp32 numbers per block of 256. Example:
    // Llama 3.2 1B in bf16: (3 · 2 + 4 + 16/256) B · 1.236e9 = 12.4e9 B, 2.6 ms at an H200's 4.8e12 B/s.
    .bytes = [](const Shape& shape, Pass pass, std::int64_t element_bytes) -> std::int64_t {
      if (pass != Pass::kForward) return 0;
      const std::int64_t n = shape.rows * shape.width;
      return n * (3 * element_bytes + 4) + 16 * quantised_blocks(n);
    },
    // AdamW's 14 plus, per moment, one multiplication to decode and two to code (finding decades takes only
    // comparisons).
    .flops = [](const Shape& shape, Pass pass) { return pass == Pass::kForward ? 20 * shape.rows * shape.width : 0; },
    .bench = {.axis = "parameters", .shapes = &weight_shapes, .of_weights = true},
};

}  // namespace headroom::kernels
