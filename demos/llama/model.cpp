// The layers of Llama 3. Its weights are made in weights.cpp.
#include "demos/llama/model.h"

#include "demos/llama/labels.h"
#include "demos/llama/linear.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;

at::Tensor attention_block(const Model& model, const LayerWeights& w, const at::Tensor& x_BTH) {
  const Operators& op = operators();
  const Config& c = model.config;
  const std::int64_t batch = x_BTH.size(0), length = x_BTH.size(1);
  const at::Tensor y_BTH = rms_norm(x_BTH, w.attention_norm_H, c.rms_norm_eps, op.attention_norm);
  const auto heads = [&](const at::Tensor& weight, std::int64_t count, std::uint16_t name) {
    return linear(y_BTH, weight, Category::kActivations, name).view({batch, length, count, c.head_dim});
  };
  const at::Tensor q_BTAD = rope(heads(w.q_proj_QH, c.num_heads, op.q_proj), model.cos_T1D, model.sin_T1D);
  const at::Tensor k_BTKD = rope(heads(w.k_proj_KH, c.num_kv_heads, op.k_proj), model.cos_T1D, model.sin_T1D);
  const at::Tensor v_BTKD = heads(w.v_proj_KH, c.num_kv_heads, op.v_proj);
  const at::Tensor o_BATD =
      causal_attention(q_BTAD.transpose(1, 2), k_BTKD.transpose(1, 2), v_BTKD.transpose(1, 2), model.attention);
  const at::Tensor o_BTQ = o_BATD.transpose(1, 2).reshape({batch, length, c.num_heads * c.head_dim});
  return linear(o_BTQ, w.o_proj_HQ, Category::kActivations, op.o_proj);
}

// SwiGLU: down(silu(gate(y)) ⊙ up(y)). Shazeer 2020, arXiv:2002.05202.
at::Tensor mlp_block(const Model& model, const LayerWeights& w, const at::Tensor& x_BTH) {
  const Operators& op = operators();
  const at::Tensor y_BTH = rms_norm(x_BTH, w.mlp_norm_H, model.config.rms_norm_eps, op.mlp_norm);
  const at::Tensor gate_BTF = linear(y_BTH, w.gate_proj_FH, Category::kActivations, op.gate_proj);
  const at::Tensor up_BTF = linear(y_BTH, w.up_proj_FH, Category::kActivations, op.up_proj);
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

at::Tensor residual(const at::Tensor& x, const at::Tensor& y, std::uint16_t op) {
  const Scope scope(op);
  return x + y;
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
  const at::Tensor h_BTH = residual(x_BTH, attention_block(model, w, x_BTH), operators().attention_residual);
  return residual(h_BTH, mlp_block(model, w, h_BTH), operators().mlp_residual);
}

at::Tensor lm_loss(const at::Tensor& x_BTH, const at::Tensor& lm_head_VH, const at::Tensor& targets_BT) {
  const Operators& op = operators();
  const at::Tensor logits_BTV = linear(x_BTH, lm_head_VH, Category::kLogits, op.lm_head);
  at::Tensor logits_NV = logits_BTV.view({-1, lm_head_VH.size(0)});
  {
    const Scope scope(Category::kLogits, op.loss_cast);
    logits_NV = logits_NV.to(at::kFloat);
  }
  at::Tensor log_probabilities_NV;
  {
    const Scope scope(Category::kLogits, op.log_softmax);
    log_probabilities_NV = label_backward(at::log_softmax(logits_NV, -1), Category::kLogits, op.log_softmax);
  }
  const Scope scope(Category::kLogits, op.nll);
  return at::nll_loss(log_probabilities_NV, targets_BT.view({-1}));
}

}  // namespace headroom::llama
