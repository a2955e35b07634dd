// Linear layers and the embedding as autograd functions.
#include "demos/llama/linear.h"

#include <torch/csrc/autograd/custom_function.h>

#include "demos/llama/labels.h"
#include "demos/record/scope.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::uint16_t operator_of(AutogradContext* ctx) { return static_cast<std::uint16_t>(ctx->saved_data["op"].toInt()); }

// a [N, M] times b [M, P] as [shape..., P]: the result is allocated whole, so that no view of it goes into the graph.
at::Tensor product(const at::Tensor& a, const at::Tensor& b, at::IntArrayRef shape) {
  at::Tensor result = at::empty(shape, a.options());
  at::Tensor rows = result.view({-1, shape.back()});
  at::mm_out(rows, a, b);
  return result;
}

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight_OI, Category output,
                            std::uint16_t op) {
    const Scope scope(output, op);
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({x, weight_OI});
    ctx->saved_data["op"] = std::int64_t{op};
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = weight_OI.size(0);
    return product(x.reshape({-1, x.size(-1)}), weight_OI.t(), shape);
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const std::uint16_t op = operator_of(ctx);
    const Scope scope(Category::kActivations, op);
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor& weight_OI = saved[1];
    const at::Tensor dy_NO = gradients[0].reshape({-1, weight_OI.size(0)});
    at::Tensor dx = product(dy_NO, weight_OI, x.sizes());
    const Scope weight_scope(Category::kGradients, op);
    at::Tensor dw_OI = at::mm(dy_NO.t(), x.reshape({-1, x.size(-1)}));
    return {dx, dw_OI, at::Tensor(), at::Tensor()};
  }
};

struct EmbeddingFunction : torch::autograd::Function<EmbeddingFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& weight_VH, const at::Tensor& ids_BT,
                            std::uint16_t op) {
    const Scope scope(Category::kActivations, op);
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({ids_BT});
    ctx->saved_data["op"] = std::int64_t{op};
    ctx->saved_data["vocab_size"] = weight_VH.size(0);
    return at::embedding(weight_VH, ids_BT);
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    // On CUDA the operator sorts the ids and adds up in fp32 buffers of its own: those are workspace.
    const Scope scope(Category::kWorkspace, operator_of(ctx));
    at::Tensor dw_VH = at::embedding_dense_backward(gradients[0], ctx->get_saved_variables()[0],
                                                    ctx->saved_data["vocab_size"].toInt(), /*padding_idx=*/-1,
                                                    /*scale_grad_by_freq=*/false);
    relabel(dw_VH, Category::kGradients);
    return {dw_VH, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight_OI, Category output, std::uint16_t op) {
  return LinearFunction::apply(x, weight_OI, output, op);
}

at::Tensor embedding(const at::Tensor& weight_VH, const at::Tensor& ids_BT, std::uint16_t op) {
  return EmbeddingFunction::apply(weight_VH, ids_BT, op);
}

}  // namespace headroom::llama
