// The layers of Llama 3. Its weights are made in weights.cpp.
#include "demos/llama/model.h"

#include "demos/llama/labels.h"
#include "demos/llama/linear.h"
#include "kernels/rope/rope_ops.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;

// norm(x + residual) times each weight; without a residual, norm(x).
NormedProducts normed_products(const Model& model, const at::Tensor& x, const at::Tensor& residual,
                               std::uint16_t residual_op, const NormedWeights& w) {
  const double eps = model.config.rms_norm_eps;
  if (model.fused.rms_norm) return fused_norm_products(x, residual, w, eps);
  NormedProducts result{.stream = x, .y = {}};
  if (residual.defined()) {
    const Scope scope(residual_op);
    result.stream = residual + x;
  }
  const at::Tensor normed = rms_norm(result.stream, w.norm_H, eps, w.norm_op);
  for (std::size_t i = 0; i < w.weights_OH.size(); ++i) {
    if (w.weights_OH[i].defined()) {
      result.y[i] = linear(normed, w.weights_OH[i], Category::kActivations, w.ops[i]);
    }
  }
  return result;
}

struct QueriesAndKeys {
  at::Tensor q_BTAD, k_BTKD;
};

QueriesAndKeys rotated(const Model& model, const at::Tensor& q_BTAD, const at::Tensor& k_BTKD) {
  if (!model.fused.rope) {
    return {.q_BTAD = rope(q_BTAD, model.cos, model.sin), .k_BTKD = rope(k_BTKD, model.cos, model.sin)};
  }
  const Scope scope(Category::kActivations, operators().rope);
  const auto [q, k] = kernels::rope_(q_BTAD, k_BTKD, model.cos, model.sin);
  return {.q_BTAD = label_backward(q, Category::kActivations, operators().rope), .k_BTKD = k};
}

// Queries, keys and values [B, T, Q or K·D] to the attention block's output [B, T, H].
at::Tensor attention_block(const Model& model, const LayerWeights& w, const std::array<at::Tensor, 3>& qkv) {
  const Config& c = model.config;
  const std::int64_t batch = qkv[0].size(0), length = qkv[0].size(1);
  const auto heads = [&](const at::Tensor& x, std::int64_t count) {
    return x.view({batch, length, count, c.head_dim});
  };
  const auto [q_BTAD, k_BTKD] = rotated(model, heads(qkv[0], c.num_heads), heads(qkv[1], c.num_kv_heads));
  const at::Tensor v_BTKD = heads(qkv[2], c.num_kv_heads);
  const at::Tensor o_BATD =
      causal_attention(q_BTAD.transpose(1, 2), k_BTKD.transpose(1, 2), v_BTKD.transpose(1, 2), model.attention);
  const at::Tensor o_BTQ = o_BATD.transpose(1, 2).reshape({batch, length, c.num_heads * c.head_dim});
  return linear(o_BTQ, w.o_proj_HQ, Category::kActivations, operators().o_proj);
}

// SwiGLU: down(silu(gate) ⊙ up). Shazeer 2020, arXiv:2002.05202.
at::Tensor mlp_block(const Model& model, const LayerWeights& w, const at::Tensor& gate_BTF, const at::Tensor& up_BTF) {
  const Operators& op = operators();
  if (model.fused.swiglu) return fused_swiglu_product(gate_BTF, up_BTF, w.down_proj_HF, op.product, op.down_proj);
  at::Tensor activated_BTF;
  {
    const Scope scope(op.silu);
    activated_BTF = label_backward(at::silu(gate_BTF), Category::kActivations, op.silu);
  }
  at::Tensor product_BTF;
  {
    const Scope scope(op.product);
    product_BTF = label_backward(activated_BTF * up_BTF, Category::kActivations, op.product);
  }
  return linear(product_BTF, w.down_proj_HF, Category::kActivations, op.down_proj);
}

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight_H, double eps, std::uint16_t op) {
  const Scope scope(Category::kActivations, op);
  const at::Tensor x_fp32 = x.to(at::kFloat);
  const at::Tensor reciprocal = at::rsqrt(x_fp32.pow(2).mean(-1, /*keepdim=*/true) + eps);
  const at::Tensor y = weight_H * (x_fp32 * reciprocal).to(x.scalar_type());
  return label_backward(y, Category::kActivations, op);
}

at::Tensor rope(const at::Tensor& x_BTAD, const at::Tensor& cos_T1D, const at::Tensor& sin_T1D) {
  const Scope scope(Category::kActivations, operators().rope);
  const std::int64_t half = x_BTAD.size(-1) / 2;
  const at::Tensor first = x_BTAD.narrow(-1, 0, half);
  const at::Tensor second = x_BTAD.narrow(-1, half, half);
  const at::Tensor quarter_turn = at::cat({-second, first}, -1);
  return label_backward(x_BTAD * cos_T1D + quarter_turn * sin_T1D, Category::kActivations, operators().rope);
}

at::Tensor layer_forward(const Model& model, std::int64_t layer, const at::Tensor& x_BTH) {
  const LayerWeights& w = model.layers[static_cast<std::size_t>(layer)];
  const Operators& op = operators();
  const NormedProducts attention = normed_products(model, x_BTH, /*residual=*/{}, record::kNoOperator,
                                                   {.norm_H = w.attention_norm_H,
                                                    .weights_OH = {w.q_proj_QH, w.k_proj_KH, w.v_proj_KH},
                                                    .norm_op = op.attention_norm,
                                                    .ops = {op.q_proj, op.k_proj, op.v_proj}});
  const at::Tensor attended_BTH = attention_block(model, w, attention.y);
  const NormedProducts mlp = normed_products(
      model, attended_BTH, attention.stream, op.attention_residual,
      {.norm_H = w.mlp_norm_H, .weights_OH = {w.gate_proj_FH, w.up_proj_FH, {}}, .norm_op = op.mlp_norm,
       .ops = {op.gate_proj, op.up_proj, record::kNoOperator}});
  const at::Tensor y_BTH = mlp_block(model, w, mlp.y[0], mlp.y[1]);
  const Scope scope(op.mlp_residual);
  return mlp.stream + y_BTH;
}

}  // namespace headroom::llama
