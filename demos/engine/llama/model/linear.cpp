// Linear layers and the embedding as autograd functions.
#include "demos/engine/llama/model/linear.h"

#include <optional>

#include <torch/csrc/autograd/custom_function.h>

#include "demos/engine/llama/model/labels.h"
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
  // `tensors` are the projection's, for the graph. Without `output` y is unmade.
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, at::TensorList /*tensors*/, const Projection& p,
                            std::optional<Category> output) {
    ctx->set_materialize_grads(false);
    const Projected projected = output ? project(x, p, *output) : project_for_backward(x, p);
    variable_list saved{needs_input(p) ? x : at::Tensor()};
    append_saved(saved, p, projected.low_NR);
    ctx->save_for_backward(std::move(saved));
    ctx->saved_data["projection"] = c10::IValue::make_capsule(c10::make_intrusive<ProjectionHolder>(std::span(&p, 1)));
    ctx->saved_data["x_shape"] = x.sizes();
    return projected.y;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto& holder = static_cast<ProjectionHolder&>(*ctx->saved_data["projection"].toCapsule());
    const variable_list saved = ctx->get_saved_variables();
    const auto [p, low_NR] = read_saved(holder.without_tensors[0], std::span(saved).subspan(1));
    const Scope scope(Category::kActivations, p.op);
    at::Tensor dx = at::empty(ctx->saved_data["x_shape"].toIntVector(), gradients[0].options());
    at::Tensor dx_NI = dx.view({-1, dx.size(-1)});
    const at::Tensor dlow_NR = input_gradient(gradients[0], p, dx_NI, /*adds=*/false);
    variable_list result{dx};
    append_gradients(result, p, trained_gradients(gradients[0], saved[0], low_NR, dlow_NR, p));
    result.insert(result.end(), 2, at::Tensor());
    return result;
  }
};

struct EmbeddingFunction : torch::autograd::Function<EmbeddingFunction> {
  // `anchor`, of no elements, brings backward here where the table is frozen.
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& weight_VH, const at::Tensor& /*anchor*/,
                            const at::Tensor& ids_BT, bool fused, bool on_cpu, std::uint16_t op) {
    const Scope scope(Category::kActivations, op);
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({ids_BT, weight_VH});
    ctx->saved_data["op"] = std::int64_t{op};
    ctx->saved_data["fused"] = fused;
    ctx->saved_data["on_cpu"] = on_cpu;
    return at::embedding(weight_VH, ids_BT);
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!ctx->needs_input_grad(0)) return variable_list(6);
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &ids_BT = saved[0], &weight_VH = saved[1];
    const std::uint16_t op = operator_of(ctx);
    const bool fused = ctx->saved_data["fused"].toBool();
    at::Tensor dw_VH = (fused ? &fused_gradient : &composed_gradient)(gradients[0], ids_BT, weight_VH, op);
    if (!fused && add_to_wider(dw_VH, weight_VH.grad(), ctx->saved_data["on_cpu"].toBool(), op)) dw_VH = at::Tensor();
    // Autograd's sum with a tied head's gradient, where it takes memory.
    set_backward_label(Category::kGradients, operators().lm_head);
    return {dw_VH, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }

 private:
  // On CUDA the operator sorts the ids and adds up in its own fp32 buffers: those are workspace.
  static at::Tensor composed_gradient(const at::Tensor& dy_BTH, const at::Tensor& ids_BT, const at::Tensor& weight_VH,
                                      std::uint16_t op) {
    const Scope scope(Category::kWorkspace, op);
    at::Tensor dw_VH = at::embedding_dense_backward(dy_BTH, ids_BT, weight_VH.size(0), /*padding_idx=*/-1,
                                                    /*scale_grad_by_freq=*/false);
    relabel(dw_VH, Category::kGradients);
    return dw_VH;
  }

  // A tied head's gradient in fp32 takes one in 16 bits, as autograd would add it. On the CPU PyTorch first copies the
  // 16 bits to fp32 (TensorIterator.cpp, compute_types()), on CUDA it does not, and meta shows no copy: here it is made
  // where it would be.
  static bool add_to_wider(const at::Tensor& dw_VH, const at::Tensor& sum_VH, bool on_cpu, std::uint16_t op) {
    if (!sum_VH.defined() || sum_VH.scalar_type() == dw_VH.scalar_type()) return false;
    const Scope scope(Category::kWorkspace, op);
    sum_VH.add_(on_cpu ? dw_VH.to(sum_VH.scalar_type()) : dw_VH);
    return true;
  }

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

at::Tensor linear(const at::Tensor& x, const Projection& projection, Category output) {
  const std::vector<at::Tensor> tensors = tensors_of(std::span(&projection, 1));
  return LinearFunction::apply(x, at::TensorList(tensors), projection, std::optional(output));
}

at::Tensor linear_for_backward(const at::Tensor& x, const Projection& projection) {
  const std::vector<at::Tensor> tensors = tensors_of(std::span(&projection, 1));
  return LinearFunction::apply(x, at::TensorList(tensors), projection, std::optional<Category>());
}

at::Tensor embedding(const at::Tensor& weight_VH, const at::Tensor& ids_BT, bool fused, std::uint16_t op,
                     record::DeviceKind target) {
  const bool frozen = !weight_VH.requires_grad();
  const at::Tensor anchor = weight_VH.detach().narrow(0, 0, 0).requires_grad_(frozen);
  return EmbeddingFunction::apply(weight_VH, anchor, ids_BT, fused, target == record::DeviceKind::kCpu, op);
}

}  // namespace headroom::llama
