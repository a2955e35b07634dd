// Kernel case of SwiGLU.
#include "kernels/gated/gated_case.h"
#include "kernels/swiglu/swiglu_ops.h"

namespace headroom::kernels {

namespace {

constexpr gated_case::CaseOps kSwigluOps{
    .eager = [](const at::Tensor& gate, const at::Tensor& up) { return at::silu(gate) * up; },
    .forward = &swiglu_forward,
    .backward = &swiglu_backward,
    .differentiable = &swiglu,
    .reference = &swiglu_reference,
};

KernelForms swiglu_forms(const Shape& shape, const KernelInputs& in) { return gated_case::forms(kSwigluOps, shape, in); }

}  // namespace

extern const KernelCase kSwigluCase;
constinit const KernelCase kSwigluCase = {
    .id = "swiglu",
    .inputs = &gated_case::inputs,
    .forms = &swiglu_forms,
    .odd_shapes = gated_case::kOddShapes,
};

}  // namespace headroom::kernels
