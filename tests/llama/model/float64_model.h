// Llama and its relatives by their formulas, with plain float64 operators and autograd.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/model.h"

namespace headroom::tests {

class Float64Model {
 public:
  // Copies the weights.
  explicit Float64Model(const llama::Model& model) : c_(model.config) {
    for (const llama::Parameter& p : llama::parameters(model))
      weights_[p.name] = p.tensor.detach().to(at::kDouble).requires_grad_(true);
  }

  // By name; backward() sets their `.grad`.
  const std::map<std::string, at::Tensor>& weights() const { return weights_; }

  // Returns the mean loss of the batch, whose ids and targets are [2, B, T].
  double backward(const at::Tensor& tokens_2BT) {
    for (auto& [name, each] : weights_) each.mutable_grad().reset();
    const at::Tensor ids = tokens_2BT.select(0, 0);
    at::Tensor x = weight("model.embed_tokens.weight").index_select(0, ids.reshape({-1}));
    x = x.view({ids.size(0), ids.size(1), -1});
    for (std::int64_t i = 0; i < c_.num_layers; ++i) x = layer(x, "model.layers." + std::to_string(i) + ".");
    const std::string head = c_.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
    const at::Tensor logits = norm(x, "model.norm.weight").matmul(weight(head).t());
    const at::Tensor loss =
        at::nll_loss(at::log_softmax(logits.view({-1, c_.vocab_size}), -1), tokens_2BT.select(0, 1).reshape({-1}));
    loss.backward();
    return loss.item<double>();
  }

 private:
  at::Tensor weight(const std::string& name) const { return weights_.at(name); }

  at::Tensor norm(const at::Tensor& x, const std::string& name) const {
    return weight(name) * x / at::sqrt((x * x).mean(-1, true) + c_.rms_norm_eps);
  }

  at::Tensor projected(const at::Tensor& x, const std::string& name) const {
    const at::Tensor y = x.matmul(weight(name + ".weight").t());
    const auto bias = weights_.find(name + ".bias");
    return bias == weights_.end() ? y : y + bias->second;
  }

  // Maps [B, T, heads · D] to [B, A, T, D], rotated by position if `turns`.
  at::Tensor heads(const at::Tensor& x, std::int64_t count, const std::string& norm_name, bool turns) const {
    at::Tensor y = x.view({x.size(0), x.size(1), count, c_.head_dim});
    if (turns && weights_.contains(norm_name)) y = norm(y, norm_name);
    y = y.transpose(1, 2);
    if (turns) {
      const std::vector<float> frequencies = llama::rope_frequencies(c_);
      const at::Tensor angle =
          at::arange(x.size(1), at::kDouble).unsqueeze(1) * at::tensor(frequencies).to(at::kDouble).unsqueeze(0);
      const at::Tensor a = y.narrow(-1, 0, c_.head_dim / 2), b = y.narrow(-1, c_.head_dim / 2, c_.head_dim / 2);
      y = at::cat({a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()}, -1);
    }
    return y.repeat_interleave(c_.num_heads / count, 1);
  }

  at::Tensor layer(const at::Tensor& x, const std::string& at) const {
    const at::Tensor in = norm(x, at + "input_layernorm.weight");
    const std::string self = at + "self_attn.";
    const at::Tensor q = heads(projected(in, self + "q_proj"), c_.num_heads, self + "q_norm.weight", true);
    const at::Tensor k = heads(projected(in, self + "k_proj"), c_.num_kv_heads, self + "k_norm.weight", true);
    const at::Tensor v = heads(projected(in, self + "v_proj"), c_.num_kv_heads, "", false);
    const at::Tensor future = at::ones({x.size(1), x.size(1)}, at::kBool).triu(1);
    const at::Tensor scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(c_.head_dim));
    const at::Tensor mixed = at::softmax(scores.masked_fill(future, -INFINITY), -1).matmul(v);
    const at::Tensor sum = x + projected(mixed.transpose(1, 2).reshape({x.size(0), x.size(1), -1}), self + "o_proj");
    const at::Tensor mlp = norm(sum, at + "post_attention_layernorm.weight");
    const at::Tensor gated = at::silu(projected(mlp, at + "mlp.gate_proj")) * projected(mlp, at + "mlp.up_proj");
    return sum + projected(gated, at + "mlp.down_proj");
  }

  llama::Config c_;
  std::map<std::string, at::Tensor> weights_;
};

}  // namespace headroom::tests
