// Lists the weights.
#include "demos/llama/layer_weights.h"

#include <utility>

namespace headroom::llama {

namespace {

class LayerList {
 public:
  explicit LayerList(const Config& config) : c_(config) { all_.reserve(16); }

  void norm(Op op) { add({.op = op, .kind = WeightKind::kNorm, .rows = c_.hidden_size, .count = c_.num_layers}); }
  void head_norm(Op op, std::int64_t heads) {
    add({.op = op, .kind = WeightKind::kHeadNorm, .rows = c_.head_dim, .count = c_.num_layers, .per_token = heads});
  }
  void projection(Op op, std::int64_t rows, std::int64_t columns, bool has_bias, std::int64_t count) {
    add({.op = op, .kind = WeightKind::kMatrix, .rows = rows, .columns = columns, .count = count});
    if (has_bias) add({.op = op, .kind = WeightKind::kBias, .rows = rows, .count = count});
  }
  void router(std::int64_t rows, std::int64_t count) {
    add({.op = Op::kRouter, .kind = WeightKind::kRouter, .rows = rows, .columns = c_.hidden_size, .count = count});
  }
  std::vector<LayerWeight> take() { return std::move(all_); }

 private:
  void add(const LayerWeight& weight) {
    if (weight.count > 0) all_.push_back(weight);
  }

  const Config& c_;
  std::vector<LayerWeight> all_;
};

}  // namespace

std::string LayerWeight::name() const {
  return std::string(info_of(op).module) + (kind == WeightKind::kBias ? ".bias" : ".weight");
}

std::vector<LayerWeight> layer_weights(const Config& c, const Extension& extension) {
  const std::int64_t h = c.hidden_size, queries = c.num_heads * c.head_dim, keys = c.num_kv_heads * c.head_dim;
  LayerList all(c);
  all.norm(Op::kAttentionNorm);
  all.projection(Op::kQProj, queries, h, c.qkv_bias, c.num_layers);
  all.projection(Op::kKProj, keys, h, c.qkv_bias, c.num_layers);
  all.projection(Op::kVProj, keys, h, c.qkv_bias, c.num_layers);
  if (c.qk_norm) all.head_norm(Op::kQNorm, c.num_heads);
  if (c.qk_norm) all.head_norm(Op::kKNorm, c.num_kv_heads);
  all.projection(Op::kOProj, h, queries, c.o_bias, c.num_layers);
  if (extension.post_norms) all.norm(Op::kAttentionPostNorm);
  all.norm(Op::kMlpNorm);
  const Mlps mlps = llama::mlps(c, extension);
  if (extension.experts) all.router(extension.experts->count, extension.experts->layers);
  all.router(1, mlps.shared.stored);  // the shared MLP's gate
  for (const Mlp& mlp : {mlps.plain, mlps.expert, mlps.shared}) {
    all.projection(Op::kGateProj, mlp.size, h, extension.mlp_bias, mlp.stored);
    all.projection(Op::kUpProj, mlp.size, h, extension.mlp_bias, mlp.stored);
    all.projection(Op::kDownProj, h, mlp.size, extension.mlp_bias, mlp.stored);
  }
  if (extension.post_norms) all.norm(Op::kMlpPostNorm);
  return all.take();
}

}  // namespace headroom::llama
