// GeGLU beside PyTorch's composition.
#include "kernels/gated/gated_case.h"
#include "kernels/geglu/geglu_ops.h"

namespace headroom::kernels {

namespace {

constexpr gated_case::CaseOps kOps{
    .eager = [](const at::Tensor& gate, const at::Tensor& up) { return at::gelu(gate, "tanh") * up; },
    .forward = &geglu_forward,
    .backward = &geglu_backward,
    .differentiable = &geglu,
    .reference = &geglu_reference,
};

KernelForms forms(const Shape& shape, const KernelInputs& in) { return gated_case::forms(kOps, shape, in); }

}  // namespace

extern const KernelCase kGegluCase;
constinit const KernelCase kGegluCase = {
    .id = "geglu",
    .inputs = &gated_case::inputs,
    .forms = &forms,
    .odd_shapes = gated_case::kOddShapes,
};

}  // namespace headroom::kernels
