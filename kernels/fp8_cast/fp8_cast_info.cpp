// Casts to fp8: formula, bytes, FLOPs.
#include "kernels/kernel.h"

namespace headroom::kernels {

extern const KernelInfo kFp8Cast;
constinit const KernelInfo kFp8Cast = {
    .id = "fp8_cast",
    .title = "Cast to fp8",
    .formula = "c = fp8(s x);  s = m / max |x|, m = 448 in e4m3 and 57,344 in e5m2",
    .shapes = "x [R, C], fp32, bf16 or fp16; c [R, C] or [C, R], one byte each; s one fp32 per tensor",
    .source = "Micikevicius et al. 2022, FP8 Formats for Deep Learning, arXiv:2209.05433, section 3",
    // Forward casts a GEMM's operand as it is, backward its transpose. Example: 8,388,608 numbers in bf16, 16.8e6 B
    // read and 8.4e6 B written, 5 µs at an H200's 4.8e12 B/s.
    .bytes = [](const Shape& shape, Pass,
                std::int64_t element_bytes) { return shape.rows * shape.width * (element_bytes + 1); },
    // A multiplication by the scale.
    .flops = [](const Shape& shape, Pass) { return shape.rows * shape.width; },
};

}  // namespace headroom::kernels
