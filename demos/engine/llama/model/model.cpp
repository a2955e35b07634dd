// The layers of Llama. weights.cpp makes the weights.
#include "demos/engine/llama/model/model.h"

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/linear.h"
#include "demos/engine/llama/model/weights/rebuilt.h"
#include "demos/engine/llama/model/weights/unmade.h"
#include "kernels/rope/rope_ops.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;

// Keeps no fp8 codes of an input that exists in backward anyway.
InputKept kept_if(bool there) { return there ? InputKept::kItself : InputKept::kCodes; }

NormedProducts normed_products(const Model& model, const at::Tensor& x, const at::Tensor& residual,
                               std::uint16_t residual_op, const NormedWeights& w, bool selective) {
  const double eps = model.config.rms_norm_eps;
  if (model.fused.rms_norm) return fused_norm_products(x, residual, w, eps, model.fused.keep);
  NormedProducts result{.stream = x, .y = {}};
  if (residual.defined()) {
    const Scope scope(residual_op);
    result.stream = residual + x;
  }
  const auto norm = [weight_H = w.norm_H, eps, op = w.norm_op](const Inputs& stream) {
    return rms_norm(stream[0], weight_H, eps, op);
  };
  const Rebuilt normed({result.stream}, norm, selective);
  const auto y = linears(normed.value(), w.projections, Category::kActivations, kept_if(selective));
  for (std::size_t i = 0; i < y.size(); ++i) result.y[i] = normed.read_by(y[i]);
  normed.discard();
  return result;
}

struct QueriesAndKeys {
  at::Tensor q_BTAD, k_BTKD;
};

QueriesAndKeys rotated(const Model& model, const at::Tensor& q_BTAD, const at::Tensor& k_BTKD) {
  if (!model.fused.rope) {
    return {.q_BTAD = rope(q_BTAD, model.cos, model.sin), .k_BTKD = rope(k_BTKD, model.cos, model.sin)};
  }
  const Scope scope(Category::kActivations, number_of(Op::kRope));
  const auto [q, k] = kernels::rope_(q_BTAD, k_BTKD, model.cos, model.sin);
  return {.q_BTAD = label_backward(q, Category::kActivations, number_of(Op::kRope)), .k_BTKD = k};
}

at::Tensor normed_heads(const Model& model, const at::Tensor& x_BTAD, const at::Tensor& norm_D, std::uint16_t op) {
  if (!norm_D.defined()) return x_BTAD;
  const auto norm = model.fused.rms_norm ? &fused_norm : &rms_norm;
  return norm(x_BTAD, norm_D, model.config.rms_norm_eps, op);
}

// Maps queries, keys and values [B, T, Q or K·D] to the attention block's output [B, T, H].
at::Tensor attention_block(const Model& model, const LayerWeights& w, const Projection& o_proj,
                           const std::array<at::Tensor, 3>& qkv, bool selective) {
  const Config& c = model.config;
  const std::int64_t batch = qkv[0].size(0), length = qkv[0].size(1);
  const auto heads = [&](const at::Tensor& x, std::int64_t count) {
    return x.view({batch, length, count, c.head_dim});
  };
  const at::Tensor q_normed = normed_heads(model, heads(qkv[0], c.num_heads), w.q_norm_D, number_of(Op::kQNorm));
  const at::Tensor k_normed = normed_heads(model, heads(qkv[1], c.num_kv_heads), w.k_norm_D, number_of(Op::kKNorm));
  const auto [q_BTAD, k_BTKD] = rotated(model, q_normed, k_normed);
  const at::Tensor v_BTKD = heads(qkv[2], c.num_kv_heads);
  const auto attend = [kernel = model.attention, mask_TT = model.mask_TT](const Inputs& heads_first) {
    const at::Tensor o_BATD = causal_attention(heads_first[0], heads_first[1], heads_first[2], kernel, mask_TT);
    return o_BATD.transpose(1, 2).reshape({o_BATD.size(0), o_BATD.size(2), -1});
  };
  // Not with a fused kernel, which keeps only its inputs and its result.
  const bool again = selective && model.attention == AttentionKernel::kEager;
  const Rebuilt o_BTQ({q_BTAD.transpose(1, 2), k_BTKD.transpose(1, 2), v_BTKD.transpose(1, 2)}, attend, again);
  const InputKept kept = kept_if(again || model.attention != AttentionKernel::kEager);
  const at::Tensor y_BTH = o_BTQ.read_by(linear(o_BTQ.value(), o_proj, Category::kActivations, kept));
  o_BTQ.discard();
  return y_BTH;
}

// SwiGLU: down(silu(gate) ⊙ up).
at::Tensor mlp_block(const Model& model, const Projection& down_proj, const at::Tensor& gate_BTF,
                     const at::Tensor& up_BTF, const LayerOptions& options) {
  if (model.fused.swiglu)
    return fused_swiglu_product(gate_BTF, up_BTF, down_proj, number_of(Op::kProduct), model.fused.keep,
                                options.for_backward);
  if (options.for_backward) return linear_for_backward(swiglu(gate_BTF, up_BTF), down_proj);
  const auto product = [](const Inputs& gate_and_up) { return swiglu(gate_and_up[0], gate_and_up[1]); };
  const Rebuilt product_BTF({gate_BTF, up_BTF}, product, options.selective);
  const at::Tensor y_BTH =
      product_BTF.read_by(linear(product_BTF.value(), down_proj, Category::kActivations, kept_if(options.selective)));
  product_BTF.discard();
  return y_BTH;
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
  const Scope scope(Category::kActivations, number_of(Op::kRope));
  const std::int64_t half = x_BTAD.size(-1) / 2;
  const at::Tensor first = x_BTAD.narrow(-1, 0, half);
  const at::Tensor second = x_BTAD.narrow(-1, half, half);
  const at::Tensor quarter_turn = at::cat({-second, first}, -1);
  return label_backward(x_BTAD * cos_T1D + quarter_turn * sin_T1D, Category::kActivations, number_of(Op::kRope));
}

at::Tensor swiglu(const at::Tensor& gate_BTF, const at::Tensor& up_BTF) {
  at::Tensor activated_BTF;
  {
    const Scope scope(number_of(Op::kSilu));
    activated_BTF = label_backward(at::silu(gate_BTF), Category::kActivations, number_of(Op::kSilu));
  }
  const Scope scope(number_of(Op::kProduct));
  return label_backward(activated_BTF * up_BTF, Category::kActivations, number_of(Op::kProduct));
}

at::Tensor layer_forward(const Model& model, std::int64_t layer, const at::Tensor& x_BTH, const LayerOptions& options) {
  const LayerWeights& w = model.layers[static_cast<std::size_t>(layer)];
  const auto of = [&](ProjectionKind kind) { return projection(model, layer, kind); };
  const NormedProducts attention =
      normed_products(model, x_BTH, /*residual=*/{}, record::kNoOperator,
                      {.norm_H = w.attention_norm_H,
                       .norm_op = number_of(Op::kAttentionNorm),
                       .projections = {of(ProjectionKind::kQ), of(ProjectionKind::kK), of(ProjectionKind::kV)}},
                      options.selective);
  const at::Tensor attended_BTH = attention_block(model, w, of(ProjectionKind::kO), attention.y, options.selective);
  const NormedProducts mlp = normed_products(model, attended_BTH, attention.stream, number_of(Op::kAttentionResidual),
                                             {.norm_H = w.mlp_norm_H,
                                              .norm_op = number_of(Op::kMlpNorm),
                                              .projections = {of(ProjectionKind::kGate), of(ProjectionKind::kUp)}},
                                             options.selective);
  const at::Tensor y_BTH = mlp_block(model, of(ProjectionKind::kDown), mlp.y[0], mlp.y[1], options);
  if (options.for_backward) return unmade_sum(mlp.stream, y_BTH);
  const Scope scope(number_of(Op::kMlpResidual));
  return mlp.stream + y_BTH;
}

}  // namespace headroom::llama
