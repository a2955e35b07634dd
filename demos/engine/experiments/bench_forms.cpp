#include "demos/engine/experiments/bench_forms.h"

#include <c10/util/Exception.h>

namespace headroom::experiments {

kernels::KernelForms bench_forms(const BenchCase& one, at::Device device) {
  const kernels::KernelCase* const found = kernels::find_case(one.kernel);
  const kernels::KernelInfo* const kernel = kernels::find_kernel(one.kernel);
  TORCH_CHECK(found != nullptr && kernel != nullptr, "there is no kernel ", one.kernel);
  const at::ScalarType type = one.storage == "bf16" ? at::kBFloat16 : one.storage == "fp16" ? at::kHalf : at::kFloat;
  at::manual_seed(1);
  kernels::KernelForms forms = found->forms(one.shape, found->inputs(one.shape, {.type = type, .device = device}));
  if (!forms.work)
    forms.work = [kernel, shape = one.shape, type](const std::string& pass) {
      return kernels::work_of(*kernel, shape, pass, type);
    };
  return forms;
}

}  // namespace headroom::experiments
