// Creates tensors without memory.
#include "demos/engine/llama/model/weights/unmade.h"

#include <torch/csrc/autograd/custom_function.h>

namespace headroom::llama {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct UnmadeSumFunction : torch::autograd::Function<UnmadeSumFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& a, const at::Tensor& b) {
    ctx->set_materialize_grads(false);
    TORCH_CHECK(a.sizes() == b.sizes(), "a sum of ", a.sizes(), " and ", b.sizes());
    return unmade(a.sizes(), a);
  }

  static variable_list backward(AutogradContext* /*ctx*/, variable_list gradients) {
    return {gradients[0], gradients[0]};
  }
};

}  // namespace

at::Tensor unmade(at::IntArrayRef shape, const at::Tensor& x) {
  // Uses no operator, so that traces and allocators see nothing.
  c10::Storage nothing(c10::Storage::use_byte_size_t(), /*size_bytes=*/0, at::DataPtr(nullptr, x.device()),
                       /*allocator=*/nullptr, /*resizable=*/false);
  nothing.unsafeGetStorageImpl()->release_data_and_set_meta_custom_data_ptr_error_msg_("an unmade tensor was read");
  at::Tensor result = at::detail::make_tensor<c10::TensorImpl>(std::move(nothing), x.key_set(), x.dtype());
  result.unsafeGetTensorImpl()->set_sizes_contiguous(shape);
  return result;
}

at::Tensor unmade_sum(const at::Tensor& a, const at::Tensor& b) { return UnmadeSumFunction::apply(a, b); }

}  // namespace headroom::llama
