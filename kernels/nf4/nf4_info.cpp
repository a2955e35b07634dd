// NF4: formula, bytes, FLOPs.
#include "kernels/kernel.h"
#include "kernels/measured_shapes.h"
#include "kernels/nf4/nf4.h"

namespace headroom::kernels {

extern const KernelInfo kNf4;
constinit const KernelInfo kNf4 = {
    .id = "nf4",
    .title = "NF4",
    .formula =
        "w = level[c] · (μ + s q(c_a));  c = the level nearest to w / a, a = max |w| of 64 weights, "
        "c_a = 8 bits of a − μ with one s per 256 of them",
    .shapes = "c 4 bits [N], c_a uint8 [N/64], s fp32 [N/64/256], μ one fp32; w [N] fp32, bf16 or fp16",
    .source = "Dettmers, Pagnoni, Holtzman and Zettlemoyer 2023, QLoRA, arXiv:2305.14314, section 3 and appendix E",
    // Reads codes, absmax codes, scales and mean; writes the weights. Example: a 2048 · 8192 matrix in bf16: 33.6e6 B
    // written and 8.65e6 B read, 8.8 µs at an H200's 4.8e12 B/s.
    .bytes = [](const Shape& shape, Pass pass, std::int64_t element_bytes) -> std::int64_t {
      if (pass != Pass::kForward) return 0;
      const std::int64_t n = shape.rows * shape.width;
      return n * element_bytes + nf4_bytes(n);
    },
    // One operation per weight, two per block of 64.
    .flops =
        [](const Shape& shape, Pass pass) {
          const std::int64_t n = shape.rows * shape.width;
          return pass == Pass::kForward ? n + 2 * nf4_blocks(n) : 0;
        },
    .bench = {.axis = "parameters", .shapes = &weight_shapes, .of_weights = true},
};

}  // namespace headroom::kernels
