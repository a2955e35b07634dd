// Linear layers and the embedding as autograd functions.
#include "demos/llama/linear.h"

#include <torch/csrc/autograd/custom_function.h>

#include "demos/llama/labels.h"
#include "demos/record/scope.h"
#include "kernels/embedding_backward/embedding_backward_ops.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::uint16_t operator_of(AutogradContext* ctx) { return static_cast<std::uint16_t>(ctx->saved_data["op"].toInt()); }

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
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& weight_VH, const at::Tensor& ids_BT, bool fused,
                            std::uint16_t op) {
    const Scope scope(Category::kActivations, op);
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({ids_BT, weight_VH});
    ctx->saved_data["op"] = std::int64_t{op};
    ctx->saved_data["fused"] = fused;
    return at::embedding(weight_VH, ids_BT);
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &ids_BT = saved[0], &weight_VH = saved[1];
    const std::uint16_t op = operator_of(ctx);
    if (ctx->saved_data["fused"].toBool()) return {fused_gradient(gradients[0], ids_BT, weight_VH, op), {}, {}, {}};
    // On CUDA the operator sorts the ids and adds up in fp32 buffers of its own: those are workspace.
    const Scope scope(Category::kWorkspace, op);
    at::Tensor dw_VH = at::embedding_dense_backward(gradients[0], ids_BT, weight_VH.size(0), /*padding_idx=*/-1,
                                                    /*scale_grad_by_freq=*/false);
    relabel(dw_VH, Category::kGradients);
    return {dw_VH, at::Tensor(), at::Tensor(), at::Tensor()};
  }

 private:
  // Undefined where it was added to what is there.
  static at::Tensor fused_gradient(const at::Tensor& dy_BTH, const at::Tensor& ids_BT, const at::Tensor& weight_VH,
                                   std::uint16_t op) {
    at::Tensor table_VH = weight_VH.grad();
    const bool there = table_VH.defined();
    if (!there) {
      const Scope scope(Category::kGradients, op);
      table_VH = at::empty(weight_VH.sizes(), weight_VH.options().requires_grad(false));
    }
    const Scope scope(Category::kWorkspace, op);
    kernels::embedding_backward(dy_BTH.reshape({-1, dy_BTH.size(-1)}), ids_BT.reshape({-1}), table_VH, there);
    return there ? at::Tensor() : table_VH;
  }
};

}  // namespace

at::Tensor product(const at::Tensor& a_NM, const at::Tensor& b_MP, at::IntArrayRef shape) {
  at::Tensor result = at::empty(shape, a_NM.options());
  at::Tensor rows = result.view({-1, shape.back()});
  at::mm_out(rows, a_NM, b_MP);
  return result;
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight_OI, Category output, std::uint16_t op) {
  return LinearFunction::apply(x, weight_OI, output, op);
}

at::Tensor embedding(const at::Tensor& weight_VH, const at::Tensor& ids_BT, bool fused, std::uint16_t op) {
  return EmbeddingFunction::apply(weight_VH, ids_BT, fused, op);
}

}  // namespace headroom::llama
