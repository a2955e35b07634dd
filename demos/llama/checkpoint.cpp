// Activation checkpointing as an autograd function.
#include "demos/llama/checkpoint.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include "demos/llama/meta_kernels.h"

namespace headroom::llama {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Holder : torch::CustomClassHolder {
  explicit Holder(CheckpointedLayer l) : layer(std::move(l)) {}
  CheckpointedLayer layer;
};

struct CheckpointFunction : torch::autograd::Function<CheckpointFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const c10::intrusive_ptr<Holder>& holder) {
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({x});
    ctx->saved_data["layer"] = c10::IValue::make_capsule(holder);
    return holder->layer.layer(x);  // autograd is off in here: the layer's intermediate tensors go at once
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto& layer = static_cast<Holder&>(*ctx->saved_data["layer"].toCapsule()).layer;
    at::Tensor x = ctx->get_saved_variables()[0].detach().requires_grad_(true);
    layer.before_recompute();
    at::Tensor y;
    {
      const at::AutoGradMode grad_mode(true);
      y = layer.layer(x);
    }
    layer.before_backward();
    const EngineCall engine_call;
    torch::autograd::backward({y}, {gradients[0]});
    return {x.grad(), at::Tensor()};
  }
};

}  // namespace

at::Tensor checkpoint(const at::Tensor& x, CheckpointedLayer layer) {
  return CheckpointFunction::apply(x, c10::make_intrusive<Holder>(std::move(layer)));
}

}  // namespace headroom::llama
