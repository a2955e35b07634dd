// Empties a value's storage, and refills it in backward from a nested graph.
#include "demos/engine/llama/model/weights/rebuilt.h"

#include <utility>

#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/meta_kernels.h"
#include "demos/record/scope.h"

namespace headroom::llama {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void release(void* storage) { delete static_cast<c10::Storage*>(storage); }

// `to` shares the memory of `from`, whose storage it keeps alive.
void share(const c10::Storage& to, const c10::Storage& from) {
  to.set_data_ptr(at::DataPtr(from.data_ptr().get(), new c10::Storage(from), &release, from.device()));
}

}  // namespace

struct Rebuilt::State {
  State(Inputs i, std::function<at::Tensor(const Inputs&)> f) : inputs(std::move(i)), function(std::move(f)) {}

  void rebuild() {
    if (result.defined()) return;
    const record::Scope phase(record::Phase::kRecompute);
    const at::AutoGradMode grad_mode(true);
    for (at::Tensor& input : inputs) input = input.detach().requires_grad_(true);
    result = function(inputs);
    share(storage, result.storage());
  }

  Inputs inputs;
  std::function<at::Tensor(const Inputs&)> function;
  c10::Storage storage;  // of the value that readers keep
  at::Tensor result;     // the value in backward, with its graph
};

struct Rebuilt::Holder : torch::CustomClassHolder {
  explicit Holder(std::shared_ptr<State> s) : state(std::move(s)) {}
  std::shared_ptr<State> state;
};

struct Rebuilt::Function : torch::autograd::Function<Rebuilt::Function> {
  static at::Tensor forward(AutogradContext* ctx, at::TensorList inputs, const c10::intrusive_ptr<Holder>& holder) {
    ctx->set_materialize_grads(false);
    ctx->saved_data["state"] = c10::IValue::make_capsule(holder);
    return holder->state->function(inputs.vec());  // autograd is off here
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    State& state = *static_cast<Holder&>(*ctx->saved_data["state"].toCapsule()).state;
    // All readers are done; this node and the readers' hooks hold the state until the graph is freed.
    state.storage.set_data_ptr(at::DataPtr(nullptr, state.storage.device()));
    {
      const EngineCall engine_call;
      torch::autograd::backward({std::exchange(state.result, at::Tensor())},
                                {std::exchange(gradients[0], at::Tensor())});
    }
    variable_list result;
    for (const at::Tensor& input : std::exchange(state.inputs, {})) result.push_back(input.grad());
    result.emplace_back();
    return result;
  }
};

Rebuilt::Rebuilt(const Inputs& inputs, std::function<at::Tensor(const Inputs&)> f, bool again) {
  if (!again || !at::GradMode::is_enabled()) {
    value_ = f(inputs);
    return;
  }
  Inputs detached;
  detached.reserve(inputs.size());
  for (const at::Tensor& input : inputs) detached.push_back(input.detach());
  state_ = std::make_shared<State>(std::move(detached), std::move(f));
  value_ = Function::apply(at::TensorList(inputs), c10::make_intrusive<Holder>(state_));
  state_->storage = value_.storage();
}

at::Tensor Rebuilt::read_by(const at::Tensor& output) const {
  if (!state_) return output;
  return on_backward(output, [state = state_] { state->rebuild(); });
}

void Rebuilt::discard() const {
  if (state_) state_->storage.set_data_ptr(at::DataPtr(nullptr, state_->storage.device()));
}

}  // namespace headroom::llama
