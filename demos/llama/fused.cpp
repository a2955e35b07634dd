// Autograd functions around the fused kernels, each allocation under its label.
#include "demos/llama/fused.h"

#include <optional>

#include <torch/csrc/autograd/custom_function.h>

#include "demos/llama/labels.h"
#include "demos/llama/linear.h"
#include "kernels/add_rms_norm/add_rms_norm_ops.h"
#include "kernels/rms_norm/rms_norm_ops.h"
#include "kernels/swiglu/swiglu_ops.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor rows(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}); }

// The graph takes no undefined tensors.
std::optional<at::Tensor> if_defined(const at::Tensor& x) { return x.defined() ? std::optional(x) : std::nullopt; }

at::Tensor linear_forward(const at::Tensor& x, const at::Tensor& weight_OI, std::uint16_t op) {
  const Scope scope(Category::kActivations, op);
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = weight_OI.size(0);
  return product(rows(x), weight_OI.t(), shape);
}

at::Tensor weight_gradient(const at::Tensor& dy, const at::Tensor& x, std::uint16_t op) {
  const Scope scope(Category::kGradients, op);
  return at::mm(rows(dy).t(), rows(x));
}

// dx in dy's memory, and the weight's gradient.
kernels::NormGradients norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& norm_H,
                                     const at::Tensor& rstd, const at::Tensor& d_stream, std::uint16_t op) {
  const Scope scope(Category::kWorkspace, op);
  kernels::NormGradients gradients =
      kernels::rms_norm_backward(dy, x, norm_H, rstd, d_stream, /*overwrite_dy=*/true);
  relabel(gradients.dweight, Category::kGradients);
  return gradients;
}

// What does not change from call to call goes through the graph as numbers.
struct NormedLabels {
  double eps;
  std::uint16_t norm_op;
  std::array<std::uint16_t, 3> ops;
};

struct NormedProductsFunction : torch::autograd::Function<NormedProductsFunction> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, const std::optional<at::Tensor>& residual,
                               const at::Tensor& norm_H, const at::Tensor& w0, const at::Tensor& w1,
                               const std::optional<at::Tensor>& w2, const NormedLabels& labels) {
    ctx->set_materialize_grads(false);
    at::Tensor stream, y, rstd;
    {
      const Scope scope(Category::kActivations, labels.norm_op);
      if (residual) {
        const kernels::AddRmsNormOut out = kernels::add_rms_norm_forward(x, *residual, norm_H, labels.eps);
        stream = out.sum, y = out.y, rstd = out.rstd;
      } else {
        const kernels::RmsNormOut out = kernels::rms_norm_forward(x, norm_H, labels.eps);
        stream = x, y = out.y, rstd = out.rstd;
      }
    }
    ctx->save_for_backward({stream, norm_H, rstd, w0, w1, w2.value_or(at::Tensor())});
    ctx->saved_data["norm_op"] = std::int64_t{labels.norm_op};
    ctx->saved_data["ops"] = std::vector<std::int64_t>(labels.ops.begin(), labels.ops.end());
    ctx->saved_data["added"] = residual.has_value();
    variable_list outputs{stream, linear_forward(y, w0, labels.ops[0]), linear_forward(y, w1, labels.ops[1])};
    if (w2) outputs.push_back(linear_forward(y, *w2, labels.ops[2]));
    return outputs;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &stream = saved[0], &norm_H = saved[1], &rstd = saved[2];
    const auto norm_op = static_cast<std::uint16_t>(ctx->saved_data["norm_op"].toInt());
    const std::vector<std::int64_t> ops = ctx->saved_data["ops"].toIntVector();
    at::Tensor y, dy;
    {
      const Scope scope(Category::kActivations, norm_op);
      y = kernels::rms_norm_rebuild(stream, norm_H, rstd);
      dy = at::empty(stream.sizes(), stream.options());
    }
    at::Tensor dy_NH = rows(dy);
    std::array<at::Tensor, 3> weight_gradients;
    for (std::size_t i = 0; i + 1 < gradients.size(); ++i) {
      const at::Tensor& dz = gradients[i + 1];
      const at::Tensor& weight = saved[3 + i];
      if (i == 0) {
        at::mm_out(dy_NH, rows(dz), weight);
      } else {
        at::addmm_out(dy_NH, dy_NH, rows(dz), weight);
      }
      weight_gradients[i] = weight_gradient(dz, y, static_cast<std::uint16_t>(ops[i]));
      gradients[i + 1] = at::Tensor();  // read; the next products need the memory
    }
    y = at::Tensor();
    const kernels::NormGradients norm = norm_backward(dy, stream, norm_H, rstd, gradients[0], norm_op);
    const bool added = ctx->saved_data["added"].toBool();
    return {norm.dx,           added ? norm.dx : at::Tensor(), norm.dweight, weight_gradients[0], weight_gradients[1],
            weight_gradients[2], at::Tensor()};
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
    const kernels::NormGradients norm =
        norm_backward(gradients[0], saved[0], saved[1], saved[2], /*d_stream=*/{}, op);
    return {norm.dx, norm.dweight, at::Tensor(), at::Tensor()};
  }
};

struct SwigluProductFunction : torch::autograd::Function<SwigluProductFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& gate_BTF, const at::Tensor& up_BTF,
                            const at::Tensor& weight_HF, std::uint16_t swiglu_op, std::uint16_t product_op) {
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({gate_BTF, up_BTF, weight_HF});
    ctx->saved_data["swiglu_op"] = std::int64_t{swiglu_op};
    ctx->saved_data["product_op"] = std::int64_t{product_op};
    at::Tensor h_BTF;
    {
      const Scope scope(Category::kActivations, swiglu_op);
      h_BTF = kernels::swiglu_forward(gate_BTF, up_BTF);
    }
    return linear_forward(h_BTF, weight_HF, product_op);
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &gate_BTF = saved[0], &up_BTF = saved[1], &weight_HF = saved[2];
    const auto swiglu_op = static_cast<std::uint16_t>(ctx->saved_data["swiglu_op"].toInt());
    const auto product_op = static_cast<std::uint16_t>(ctx->saved_data["product_op"].toInt());
    at::Tensor dh_BTF;
    {
      const Scope scope(Category::kActivations, product_op);
      dh_BTF = product(rows(gradients[0]), weight_HF, gate_BTF.sizes());
    }
    kernels::GatedGradients gated;
    {
      const Scope scope(Category::kActivations, swiglu_op);
      gated = kernels::swiglu_backward(dh_BTF, gate_BTF, up_BTF, /*rebuild_h=*/true, /*in_place=*/true);
    }
    return {gated.dgate, gated.dup, weight_gradient(gradients[0], gated.h, product_op), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

NormedProducts fused_norm_products(const at::Tensor& x, const at::Tensor& residual, const NormedWeights& w,
                                   double eps) {
  const variable_list outputs =
      NormedProductsFunction::apply(x, if_defined(residual), w.norm_H, w.weights_OH[0], w.weights_OH[1],
                                    if_defined(w.weights_OH[2]),
                                    NormedLabels{.eps = eps, .norm_op = w.norm_op, .ops = w.ops});
  return {.stream = outputs[0], .y = {outputs[1], outputs[2], outputs.size() > 3 ? outputs[3] : at::Tensor()}};
}

at::Tensor fused_norm(const at::Tensor& x, const at::Tensor& norm_H, double eps, std::uint16_t op) {
  return NormFunction::apply(x, norm_H, eps, op);
}

at::Tensor fused_swiglu_product(const at::Tensor& gate_BTF, const at::Tensor& up_BTF, const at::Tensor& weight_HF,
                                std::uint16_t swiglu_op, std::uint16_t product_op) {
  return SwigluProductFunction::apply(gate_BTF, up_BTF, weight_HF, swiglu_op, product_op);
}

}  // namespace headroom::llama
