// GeGLU: formula, bytes, FLOPs.
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"

namespace headroom::kernels {

extern const KernelInfo kGeglu;
constinit const KernelInfo kGeglu = {
    .id = "geglu",
    .title = "GeGLU",
    .formula = "h = gelu(gate) · up;  gelu(x) = ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))",
    .shapes = "gate, up, h [N, F]; fp32, bf16 or fp16, all the same; arithmetic in fp32",
    .source = "Shazeer 2020, GLU Variants Improve Transformer, arXiv:2002.05202, equation 6",
    // Forward reads gate, up; writes h. Backward reads dh, gate, up; writes dgate, dup. Example: 8192 tokens · F 14336 in
    // bf16: forward 3 · 2 B · 1.17e8 = 705e6 B, backward 1174e6 B.
    .bytes =
        [](const Shape& shape, Pass pass, std::int64_t element_bytes) {
          return (pass == Pass::kForward ? 3 : 5) * shape.rows * shape.width * element_bytes;
        },
    // Forward: cubic 4, the rest 6 as in SwiGLU. Backward: those 10, slope 7, multiplications 3.
    .flops = [](const Shape& shape,
                Pass pass) { return (pass == Pass::kForward ? 10 : 20) * shape.rows * shape.width; },
    .bench = {.axis = "model", .shapes = &gated_shapes, .many_launches = true},
    .report = {.place = 2,
               .axis = "tokens per sequence T",
               .what = "whole MLP",
               .shapes = &mlp_report_shapes,
               .x = &mlp_report_x,
               .inputs = &mlp_report_inputs},
};

}  // namespace headroom::kernels
