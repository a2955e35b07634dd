// Numbers of operators, and identity functions that run a call in backward.
#include "demos/engine/llama/model/labels.h"

#include <array>
#include <optional>

#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

namespace headroom::llama {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Lasts from one autograd node to another, so no scope can own it.
thread_local std::optional<record::Scope> t_backward_label;

struct Call : torch::CustomClassHolder {
  explicit Call(std::function<void()> f) : function(std::move(f)) {}
  std::function<void()> function;
};

struct IdentityFunction : torch::autograd::Function<IdentityFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const c10::intrusive_ptr<Call>& call) {
    ctx->saved_data["call"] = c10::IValue::make_capsule(call);
    return x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    static_cast<Call&>(*ctx->saved_data["call"].toCapsule()).function();
    return {gradients[0], at::Tensor()};
  }
};

}  // namespace

std::uint16_t number_of(Op op) {
  static const auto kNumbers = [] {
    std::array<std::uint16_t, kOperators.size()> numbers{};
    for (const Operator& each : kOperators)
      numbers[static_cast<std::size_t>(each.op)] = record::intern_operator(each.name);
    return numbers;
  }();
  return kNumbers[static_cast<std::size_t>(op)];
}

void relabel(const at::Tensor& tensor, record::Category category) {
  record::relabel(tensor.storage().data_ptr().get_context(), category);
}

at::Tensor on_backward(const at::Tensor& x, std::function<void()> call) {
  if (!at::GradMode::is_enabled()) return x;  // in a checkpoint's forward, which has no backward
  return IdentityFunction::apply(x, c10::make_intrusive<Call>(std::move(call)));
}

at::Tensor label_backward(const at::Tensor& y, record::Category category, std::uint16_t op) {
  return on_backward(y, [category, op] { set_backward_label(category, op); });
}

void set_backward_label(record::Category category, std::uint16_t op) {
  t_backward_label.reset();  // restores the original tag first
  t_backward_label.emplace(category, op);
}

void mark_backward(record::Phase phase, std::uint16_t layer, std::uint16_t micro_batch) {
  t_backward_label.reset();
  record::mark(phase, layer, micro_batch);
}

BackwardLabels::~BackwardLabels() { t_backward_label.reset(); }

}  // namespace headroom::llama
