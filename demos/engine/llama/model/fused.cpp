// Autograd functions around the fused kernels, with labeled allocations.
#include "demos/engine/llama/model/fused.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <torch/csrc/autograd/custom_function.h>

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/linear.h"
#include "demos/engine/llama/model/weights/unmade.h"
#include "demos/predict/forms/step_bytes.h"
#include "kernels/add_rms_norm/add_rms_norm_ops.h"
#include "kernels/rms_norm/rms_norm_ops.h"
#include "kernels/swiglu/swiglu_ops.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Autograd accepts no undefined tensors.
std::optional<at::Tensor> if_defined(const at::Tensor& x) { return x.defined() ? std::optional(x) : std::nullopt; }

// Returns dx in dy's memory and, unless the weight is frozen, the weight's gradient.
kernels::NormGradients norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& norm_H,
                                     const at::Tensor& rstd, const at::Tensor& d_stream, std::uint16_t op) {
  const Scope scope(Category::kWorkspace, op);
  kernels::NormGradients gradients = kernels::rms_norm_backward(dy, x, norm_H, rstd, d_stream, /*overwrite_dy=*/true);
  if (norm_H.requires_grad()) {
    relabel(gradients.dweight, Category::kGradients);
  } else {
    gradients.dweight = at::Tensor();
  }
  return gradients;
}

at::Tensor kept_of(const ProjectionInput& input) {
  return input.codes.transposed.defined() ? input.codes.transposed : input.x;
}
ProjectionInput input_kept(const at::Tensor& kept, const Projection& first) {
  ProjectionInput input{.x = {}, .codes = {}, .fp8_index = first.fp8_index};
  (first.fp8 != nullptr ? input.codes.transposed : input.x) = kept;
  return input;
}

struct NormedProductsFunction : torch::autograd::Function<NormedProductsFunction> {
  // `tensors` puts the weights into the graph.
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, const std::optional<at::Tensor>& residual,
                               const at::Tensor& norm_H, at::TensorList /*tensors*/, const NormedWeights& w, double eps,
                               bool keep) {
    ctx->set_materialize_grads(false);
    at::Tensor stream, y, rstd;
    {
      const Scope scope(Category::kActivations, w.norm_op);
      if (residual) {
        const kernels::AddRmsNormOut out = kernels::add_rms_norm_forward(x, *residual, norm_H, eps);
        stream = out.sum, y = out.y, rstd = out.rstd;
      } else {
        const kernels::RmsNormOut out = kernels::rms_norm_forward(x, norm_H, eps);
        stream = x, y = out.y, rstd = out.rstd;
      }
    }
    const bool keeps_y = keep && std::ranges::any_of(w.projections, needs_input);
    const ProjectionInput input = input_of(y, w.projections, /*for_y=*/true, /*for_gradients=*/keeps_y);
    variable_list outputs{stream}, saved{stream, norm_H, rstd, keeps_y ? kept_of(input) : at::Tensor()};
    for (const Projection& p : w.projections) {
      const Projected projected = project(input, p, Category::kActivations);
      outputs.push_back(projected.y);
      append_saved(saved, p, projected.low_NR);
    }
    ctx->save_for_backward(std::move(saved));
    ctx->saved_data["norm_op"] = std::int64_t{w.norm_op};
    ctx->saved_data["added"] = residual.has_value();
    ctx->saved_data["projections"] = c10::IValue::make_capsule(c10::make_intrusive<ProjectionHolder>(w.projections));
    return outputs;
  }

  // Takes LibTorch's own list, to free its gradients here.
  static variable_list backward(AutogradContext* ctx, variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &stream = saved[0], &norm_H = saved[1], &rstd = saved[2];
    const auto norm_op = static_cast<std::uint16_t>(ctx->saved_data["norm_op"].toInt());
    std::vector<SavedProjection> projections;
    bool reads_y = false;
    for (const Projection& p :
         static_cast<ProjectionHolder&>(*ctx->saved_data["projections"].toCapsule()).without_tensors) {
      projections.push_back(read_saved(p, std::span(saved).subspan(4 + kSavedPerProjection * projections.size())));
      reads_y = reads_y || needs_input(projections.back().projection);
    }
    ProjectionInput input = input_kept(saved[3], projections[0].projection);
    at::Tensor dy;
    {
      const Scope scope(Category::kActivations, norm_op);
      if (reads_y && !saved[3].defined()) input.x = kernels::rms_norm_rebuild(stream, norm_H, rstd);
      keep_codes_alone(input, projections[0].projection);
      dy = at::empty(stream.sizes(), stream.options());
    }
    at::Tensor dy_NH = rows(dy);
    variable_list of_projections;
    for (std::size_t i = 0; i < projections.size(); ++i) {
      const auto& [p, low_NR] = projections[i];
      at::Tensor& dz = gradients[i + 1];
      const at::Tensor dlow_NR = input_gradient(dz, p, dy_NH, /*adds=*/i > 0);
      append_gradients(of_projections, p, trained_gradients(dz, input, low_NR, dlow_NR, p));
    }
    input = {};
    const kernels::NormGradients norm = norm_backward(dy, stream, norm_H, rstd, gradients[0], norm_op);
    variable_list result{norm.dx, ctx->saved_data["added"].toBool() ? norm.dx : at::Tensor(), norm.dweight};
    result.insert(result.end(), of_projections.begin(), of_projections.end());
    result.insert(result.end(), 3, at::Tensor());
    return result;
  }
};

struct NormFunction : torch::autograd::Function<NormFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& norm_H, double eps,
                            std::uint16_t op) {
    const Scope scope(Category::kActivations, op);
    ctx->set_materialize_grads(false);
    const kernels::RmsNormOut out = kernels::rms_norm_forward(x, norm_H, eps);
    ctx->save_for_backward({x, norm_H, out.rstd});
    ctx->saved_data["op"] = std::int64_t{op};
    return out.y;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const auto op = static_cast<std::uint16_t>(ctx->saved_data["op"].toInt());
    at::Tensor dy = std::exchange(gradients[0], at::Tensor());
    if (!dy.is_contiguous()) {  // transposed by eager attention
      const Scope scope(Category::kActivations, op);
      dy = dy.contiguous();
    }
    const kernels::NormGradients norm = norm_backward(dy, saved[0], saved[1], saved[2], /*d_stream=*/{}, op);
    return {norm.dx, norm.dweight, at::Tensor(), at::Tensor()};
  }
};

// In fp8, writes dgate over gate and dup over up, and returns the codes of h for the weight's gradient. Processes some
// rows at a time, so that all rows never exist both as values and as codes.
at::Tensor fp8_swiglu_backward(const at::Tensor& dy, const Projection& down, const at::Tensor& gate_BTF,
                               const at::Tensor& up_BTF, std::uint16_t swiglu_op) {
  const at::Tensor gate_NF = rows(gate_BTF), up_NF = rows(up_BTF);
  const std::int64_t all = gate_NF.size(0), at_once = predict::rows_at_once_in_fp8(all);
  at::Tensor codes_FN = no_input_codes(all, down), dh;
  const Fp8InputGradient input_gradient(dy, down);
  {
    const Scope scope(Category::kActivations, down.op);
    dh = at::empty({at_once, gate_NF.size(1)}, gate_NF.options());
  }
  for (std::int64_t first = 0; first < all; first += at_once) {
    const std::int64_t n = std::min(at_once, all - first);
    at::Tensor dh_nF = dh.narrow(0, 0, n);
    {
      const Scope scope(Category::kActivations, down.op);
      input_gradient.rows(dh_nF, first, /*adds=*/false);
    }
    const Scope scope(Category::kActivations, swiglu_op);
    const kernels::GatedGradients gated = kernels::swiglu_backward(
        dh_nF, gate_NF.narrow(0, first, n), up_NF.narrow(0, first, n), /*rebuild_h=*/true, /*in_place=*/true);
    add_input_codes(gated.h, down, first, codes_FN);
  }
  return codes_FN;
}

struct SwigluProductFunction : torch::autograd::Function<SwigluProductFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& gate_BTF, const at::Tensor& up_BTF,
                            at::TensorList /*tensors*/, const Projection& down, std::uint16_t swiglu_op, bool keep,
                            bool for_backward) {
    ctx->set_materialize_grads(false);
    const bool keeps_h = keep && needs_input(down);
    at::Tensor h_BTF;
    if (for_backward && !keeps_h && !down.a_RI.defined()) {
      h_BTF = unmade(gate_BTF.sizes(), gate_BTF);
    } else {
      const Scope scope(Category::kActivations, swiglu_op);
      h_BTF = kernels::swiglu_forward(gate_BTF, up_BTF);
    }
    const ProjectionInput input = for_backward || keeps_h ? input_of(h_BTF, std::span(&down, 1),
                                                                     /*for_y=*/!for_backward, /*for_gradients=*/keeps_h)
                                                          : input_used_up(h_BTF, down);
    const Projected projected =
        for_backward ? project_for_backward(h_BTF, down) : project(input, down, Category::kActivations);
    variable_list saved{gate_BTF, up_BTF, keeps_h ? kept_of(input) : at::Tensor()};
    append_saved(saved, down, projected.low_NR);
    ctx->save_for_backward(std::move(saved));
    ctx->saved_data["swiglu_op"] = std::int64_t{swiglu_op};
    ctx->saved_data["down"] = c10::IValue::make_capsule(c10::make_intrusive<ProjectionHolder>(std::span(&down, 1)));
    return projected.y;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &gate_BTF = saved[0], &up_BTF = saved[1];
    const auto& holder = static_cast<ProjectionHolder&>(*ctx->saved_data["down"].toCapsule());
    const auto [down, low_NR] = read_saved(holder.without_tensors[0], std::span(saved).subspan(3));
    const auto swiglu_op = static_cast<std::uint16_t>(ctx->saved_data["swiglu_op"].toInt());
    if (down.fp8 != nullptr && needs_input(down) && !saved[2].defined()) {
      ProjectionInput h{
          .codes = {.rows = {}, .transposed = fp8_swiglu_backward(gradients[0], down, gate_BTF, up_BTF, swiglu_op)},
          .fp8_index = down.fp8_index};
      variable_list result{gate_BTF, up_BTF};  // overwritten by their gradients
      append_gradients(result, down, trained_gradients(gradients[0], h, low_NR, /*dlow_NR=*/{}, down));
      result.insert(result.end(), 4, at::Tensor());
      return result;
    }
    at::Tensor dh_BTF, dlow_NR;
    {
      const Scope scope(Category::kActivations, down.op);
      dh_BTF = at::empty(gate_BTF.sizes(), gate_BTF.options());
      at::Tensor dh_NF = rows(dh_BTF);
      dlow_NR = input_gradient(gradients[0], down, dh_NF, /*adds=*/false);
    }
    kernels::GatedGradients gated;
    {
      const Scope scope(Category::kActivations, swiglu_op);
      const bool rebuild_h = needs_input(down) && !saved[2].defined();
      gated = kernels::swiglu_backward(dh_BTF, gate_BTF, up_BTF, rebuild_h, /*in_place=*/true);
    }
    variable_list result{gated.dgate, gated.dup};
    ProjectionInput h = input_kept(saved[2], down);
    if (!saved[2].defined()) h.x = std::move(gated.h);
    append_gradients(result, down, trained_gradients(gradients[0], h, low_NR, dlow_NR, down));
    result.insert(result.end(), 4, at::Tensor());
    return result;
  }
};

}  // namespace

NormedProducts fused_norm_products(const at::Tensor& x, const at::Tensor& residual, const NormedWeights& w, double eps,
                                   bool keep) {
  const std::vector<at::Tensor> tensors = tensors_of(w.projections);
  const variable_list outputs =
      NormedProductsFunction::apply(x, if_defined(residual), w.norm_H, at::TensorList(tensors), w, eps, keep);
  return {.stream = outputs[0], .y = {outputs[1], outputs[2], outputs.size() > 3 ? outputs[3] : at::Tensor()}};
}

at::Tensor fused_norm(const at::Tensor& x, const at::Tensor& norm_H, double eps, std::uint16_t op) {
  return NormFunction::apply(x, norm_H, eps, op);
}

at::Tensor fused_swiglu_product(const at::Tensor& gate_BTF, const at::Tensor& up_BTF, const Projection& down,
                                std::uint16_t swiglu_op, bool keep, bool for_backward) {
  const std::vector<at::Tensor> tensors = tensors_of(std::span(&down, 1));
  return SwigluProductFunction::apply(gate_BTF, up_BTF, at::TensorList(tensors), down, swiglu_op, keep, for_backward);
}

}  // namespace headroom::llama
