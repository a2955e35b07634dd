// Activation checkpointing as an autograd function.
#include "demos/engine/llama/model/checkpoint.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include "demos/engine/llama/model/meta_kernels.h"

namespace headroom::llama {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Holder : torch::CustomClassHolder {
  explicit Holder(CheckpointedSegment s) : segment(std::move(s)) {}
  CheckpointedSegment segment;
};

struct CheckpointFunction : torch::autograd::Function<CheckpointFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const c10::intrusive_ptr<Holder>& holder) {
    const CheckpointedSegment& segment = holder->segment;
    ctx->set_materialize_grads(false);
    ctx->saved_data["segment"] = c10::IValue::make_capsule(holder);
    if (segment.store == nullptr) ctx->save_for_backward({x});
    at::Tensor y =
        segment.layers(x, record::Phase::kForward);  // autograd is off here, so intermediates are freed at once
    if (segment.store != nullptr) segment.store->keep(segment.number, x);
    return y;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const CheckpointedSegment& segment = static_cast<Holder&>(*ctx->saved_data["segment"].toCapsule()).segment;
    const at::Tensor kept =
        segment.store == nullptr ? ctx->get_saved_variables()[0] : segment.store->take(segment.number);
    at::Tensor x = kept.detach().requires_grad_(true);
    at::Tensor y;
    {
      const at::AutoGradMode grad_mode(true);
      y = segment.layers(x, record::Phase::kRecompute);
    }
    segment.before_backward();
    const EngineCall engine_call;
    torch::autograd::backward({y}, {gradients[0]});
    return {x.grad(), at::Tensor()};
  }
};

}  // namespace

at::Tensor checkpoint(const at::Tensor& x, CheckpointedSegment segment) {
  return CheckpointFunction::apply(x, c10::make_intrusive<Holder>(std::move(segment)));
}

}  // namespace headroom::llama
