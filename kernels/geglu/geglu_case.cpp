// Kernel case of GeGLU.
#include "kernels/gated/gated_case.h"
#include "kernels/geglu/geglu_ops.h"

namespace headroom::kernels {

namespace {

constexpr gated_case::CaseOps kGegluOps{
    .eager = [](const at::Tensor& gate, const at::Tensor& up) { return at::gelu(gate, "tanh") * up; },
    .forward = &geglu_forward,
    .backward = &geglu_backward,
    .differentiable = &geglu,
    .reference = &geglu_reference,
};

KernelForms geglu_forms(const Shape& shape, const KernelInputs& in) { return gated_case::forms(kGegluOps, shape, in); }

}  // namespace

extern const KernelCase kGegluCase;
constinit const KernelCase kGegluCase = {
    .id = "geglu",
    .inputs = &gated_case::inputs,
    .forms = &geglu_forms,
    .odd_shapes = gated_case::kOddShapes,
};

}  // namespace headroom::kernels
