// Linear layers and the embedding as autograd functions.
#include "demos/engine/llama/model/linear.h"

#include <algorithm>
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
  // `tensors` puts the weights into the graph. Without `output` each y is unmade.
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, at::TensorList /*tensors*/,
                               std::span<const Projection> projections, std::optional<Category> output,
                               InputKept kept) {
    ctx->set_materialize_grads(false);
    const bool read = std::ranges::any_of(projections, needs_input);
    const bool codes = read && projections.front().fp8 != nullptr && kept == InputKept::kCodes;
    const ProjectionInput input = input_of(x, projections, /*for_y=*/output.has_value(), /*for_gradients=*/codes);
    variable_list outputs, saved{read && !codes ? x : at::Tensor(), input.codes.transposed};
    for (const Projection& p : projections) {
      const Projected projected = output ? project(input, p, *output) : project_for_backward(x, p);
      append_saved(saved, p, projected.low_NR);
      outputs.push_back(projected.y);
    }
    ctx->save_for_backward(std::move(saved));
    ctx->saved_data["projections"] = c10::IValue::make_capsule(c10::make_intrusive<ProjectionHolder>(projections));
    ctx->saved_data["x_shape"] = x.sizes();
    return outputs;
  }

  // Takes LibTorch's own list, to free its gradients here.
  static variable_list backward(AutogradContext* ctx, variable_list& gradients) {
    const auto& holder = static_cast<ProjectionHolder&>(*ctx->saved_data["projections"].toCapsule());
    const variable_list saved = ctx->get_saved_variables();
    ProjectionInput input{
        .x = saved[0], .codes = {.rows = {}, .transposed = saved[1]}, .fp8_index = holder.without_tensors[0].fp8_index};
    at::Tensor dx, dx_NI;
    variable_list of_projections;
    for (std::size_t i = 0; i < holder.without_tensors.size(); ++i) {
      const auto [p, low_NR] =
          read_saved(holder.without_tensors[i], std::span(saved).subspan(2 + kSavedPerProjection * i));
      const Scope scope(Category::kActivations, p.op);
      if (i == 0) {
        dx = at::empty(ctx->saved_data["x_shape"].toIntVector(), gradients[0].options());
        dx_NI = dx.view({-1, dx.size(-1)});
      }
      const at::Tensor dlow_NR = input_gradient(gradients[i], p, dx_NI, /*adds=*/i > 0);
      append_gradients(of_projections, p, trained_gradients(gradients[i], input, low_NR, dlow_NR, p));
    }
    variable_list result{dx};
    result.insert(result.end(), of_projections.begin(), of_projections.end());
    result.insert(result.end(), 3, at::Tensor());
    return result;
  }
};

struct EmbeddingFunction : torch::autograd::Function<EmbeddingFunction> {
  // The empty `anchor` makes backward reach a frozen table.
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
    // Labels what autograd may allocate when it adds this gradient to a tied head's.
    set_backward_label(Category::kGradients, number_of(Op::kLmHead));
    return {dw_VH, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }

 private:
  // On CUDA the operator's fp32 buffers are workspace.
  static at::Tensor composed_gradient(const at::Tensor& dy_BTH, const at::Tensor& ids_BT, const at::Tensor& weight_VH,
                                      std::uint16_t op) {
    const Scope scope(Category::kWorkspace, op);
    at::Tensor dw_VH = at::embedding_dense_backward(dy_BTH, ids_BT, weight_VH.size(0), /*padding_idx=*/-1,
                                                    /*scale_grad_by_freq=*/false);
    relabel(dw_VH, Category::kGradients);
    return dw_VH;
  }

  // Adds a 16-bit gradient to a tied head's fp32 gradient, like autograd. PyTorch copies the 16-bit gradient to fp32 on
  // the CPU (TensorIterator.cpp, compute_types()) but not on CUDA. Meta makes no copy, so the copy is explicit here.
  static bool add_to_wider(const at::Tensor& dw_VH, const at::Tensor& sum_VH, bool on_cpu, std::uint16_t op) {
    if (!sum_VH.defined() || sum_VH.scalar_type() == dw_VH.scalar_type()) return false;
    const Scope scope(Category::kWorkspace, op);
    sum_VH.add_(on_cpu ? dw_VH.to(sum_VH.scalar_type()) : dw_VH);
    return true;
  }

  // Returns the gradient; undefined if it was added to an existing one.
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

std::vector<at::Tensor> linears(const at::Tensor& x, std::span<const Projection> projections, Category output,
                                InputKept kept) {
  std::vector<at::Tensor> results;
  // Without fp8, each projection is a separate node, which autograd may run as soon as its gradient exists.
  const std::size_t together = projections.front().fp8 != nullptr ? projections.size() : 1;
  for (std::size_t first = 0; first < projections.size(); first += together) {
    const std::span<const Projection> part = projections.subspan(first, together);
    const std::vector<at::Tensor> tensors = tensors_of(part);
    const variable_list made = LinearFunction::apply(x, at::TensorList(tensors), part, std::optional(output), kept);
    results.insert(results.end(), made.begin(), made.end());
  }
  return results;
}

at::Tensor linear(const at::Tensor& x, const Projection& projection, Category output, InputKept kept) {
  return linears(x, std::span(&projection, 1), output, kept).front();
}

at::Tensor linear_for_backward(const at::Tensor& x, const Projection& projection) {
  const std::span<const Projection> one(&projection, 1);
  const std::vector<at::Tensor> tensors = tensors_of(one);
  return LinearFunction::apply(x, at::TensorList(tensors), one, std::optional<Category>(), InputKept::kCodes).front();
}

at::Tensor embedding(const at::Tensor& weight_VH, const at::Tensor& ids_BT, bool fused, std::uint16_t op,
                     record::DeviceKind target) {
  const bool frozen = !weight_VH.requires_grad();
  const at::Tensor anchor = weight_VH.detach().narrow(0, 0, 0).requires_grad_(frozen);
  return EmbeddingFunction::apply(weight_VH, anchor, ids_BT, fused, target == record::DeviceKind::kCpu, op);
}

}  // namespace headroom::llama
