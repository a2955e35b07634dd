// A decoder block from operators that label their allocations.
#include "demos/engine/experiments/decoder_block.h"

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/linear.h"
#include "demos/record/scope.h"

namespace headroom::experiments {

namespace {

using llama::label_backward;
using llama::number_of;
using llama::Op;
using record::Category;
using record::Scope;

constexpr double kDropped = 0.1;  // resid_pdrop of GPT-2's config.json

class BlockMaker {
 public:
  BlockMaker(const llama::Architecture& shape, const llama::ModelPlace& placement, std::uint64_t seed)
      : shape_(shape), make_(placement, seed, /*draw=*/true) {
    make_.enter(0);
  }

  at::Tensor positions() const {
    if (!shape_.learned_positions) return {};
    return make_.matrix(shape_.context, shape_.shape.hidden_size, number_of(Op::kPositions));
  }
  BlockNorm norm(std::uint16_t rms_norm, std::uint16_t layer_norm) const {
    const std::uint16_t op = shape_.layer_norm ? layer_norm : rms_norm;
    const std::int64_t hidden = shape_.shape.hidden_size;
    return {.weight_H = make_.ones(hidden, op),
            .bias_H = shape_.layer_norm ? make_.zeros(hidden, op) : at::Tensor(),
            .op = op};
  }
  llama::Projection projection(std::int64_t outputs, std::int64_t inputs, std::uint16_t op) const {
    return {.weight_OI = make_.matrix(outputs, inputs, op),
            .bias_O = shape_.biases ? make_.zeros(outputs, op) : at::Tensor(),
            .op = op};
  }

 private:
  const llama::Architecture& shape_;
  llama::WeightMaker make_;
};

at::Tensor normed(const DecoderBlock& block, const BlockNorm& norm, const at::Tensor& x_BTH) {
  const double eps = block.shape.shape.rms_norm_eps;
  if (!norm.bias_H.defined()) return llama::rms_norm(x_BTH, norm.weight_H, eps, norm.op);
  const Scope scope(Category::kActivations, norm.op);
  const at::Tensor y = at::layer_norm(x_BTH, x_BTH.size(-1), norm.weight_H, norm.bias_H, eps);
  return label_backward(y, Category::kActivations, norm.op);
}

at::Tensor projected(const at::Tensor& x, const llama::Projection& projection) {
  return llama::linear(x, projection, Category::kActivations, llama::InputKept::kItself);
}

// Keeps a one-byte mask per element. Srivastava et al. 2014, JMLR 15:1929.
at::Tensor dropped(const DecoderBlock& block, const at::Tensor& x_BTH, std::uint16_t op) {
  if (!block.shape.dropout) return x_BTH;
  const Scope scope(Category::kActivations, op);
  const at::Tensor y = std::get<0>(at::native_dropout(x_BTH, kDropped, /*train=*/true));
  return label_backward(y, Category::kActivations, op);
}

at::Tensor attended(const DecoderBlock& block, const at::Tensor& x_BTH) {
  const llama::Config& c = block.shape.shape;
  const std::int64_t batch = x_BTH.size(0), length = x_BTH.size(1);
  const auto heads = [&](const llama::Projection& projection, std::int64_t count) {
    return projected(x_BTH, projection).view({batch, length, count, c.head_dim});
  };
  at::Tensor q_BTAD = heads(block.q, c.num_heads), k_BTKD = heads(block.k, c.num_kv_heads);
  const at::Tensor v_BTKD = heads(block.v, c.num_kv_heads);
  if (block.rope.cos.defined()) {
    q_BTAD = llama::rope(q_BTAD, block.rope.cos, block.rope.sin);
    k_BTKD = llama::rope(k_BTKD, block.rope.cos, block.rope.sin);
  }
  const at::Tensor o_BATD =
      llama::causal_attention(q_BTAD.transpose(1, 2), k_BTKD.transpose(1, 2), v_BTKD.transpose(1, 2), block.attention);
  return projected(o_BATD.transpose(1, 2).reshape({batch, length, -1}), block.o);
}

// GPT-2 uses the tanh form of GELU. Hendrycks and Gimpel 2016, arXiv:1606.08415.
at::Tensor mlp(const DecoderBlock& block, const at::Tensor& x_BTH) {
  if (block.gate.weight_OI.defined()) {
    const at::Tensor gate_BTF = projected(x_BTH, block.gate), up_BTF = projected(x_BTH, block.up);
    return projected(llama::swiglu(gate_BTF, up_BTF), block.down);
  }
  const at::Tensor up_BTF = projected(x_BTH, block.up);
  at::Tensor h_BTF;
  {
    const std::uint16_t op = number_of(Op::kGelu);
    const Scope scope(Category::kActivations, op);
    h_BTF = label_backward(at::gelu(up_BTF, "tanh"), Category::kActivations, op);
  }
  return projected(h_BTF, block.down);
}

at::Tensor sum(const at::Tensor& stream_BTH, const at::Tensor& y_BTH, std::uint16_t op) {
  const Scope scope(Category::kActivations, op);
  return stream_BTH + y_BTH;
}

}  // namespace

DecoderBlock make_block(const llama::Architecture& shape, const llama::ModelPlace& placement, std::uint64_t seed) {
  const at::AutoGradMode grad_mode(false);
  const llama::Config& c = shape.shape;
  const std::int64_t hidden = c.hidden_size, mlp_size = c.intermediate_size;
  const std::int64_t queries = c.num_heads * c.head_dim, keys = c.num_kv_heads * c.head_dim;
  const BlockMaker make(shape, placement, seed);
  return {
      .shape = shape,
      .attention = llama::attention_kernel(llama::Attention::kFlash, placement.target, placement.type),
      .positions_TH = make.positions(),
      .rope = shape.learned_positions ? llama::RopeTables()
                                      : llama::make_rope_tables(c, placement, shape.context, /*fused=*/false),
      .attention_norm = make.norm(number_of(Op::kAttentionNorm), number_of(Op::kAttentionLayerNorm)),
      .mlp_norm = make.norm(number_of(Op::kMlpNorm), number_of(Op::kMlpLayerNorm)),
      .q = make.projection(queries, hidden, number_of(Op::kQProj)),
      .k = make.projection(keys, hidden, number_of(Op::kKProj)),
      .v = make.projection(keys, hidden, number_of(Op::kVProj)),
      .o = make.projection(hidden, queries, number_of(Op::kOProj)),
      .up = make.projection(mlp_size, hidden, number_of(Op::kUpProj)),
      .down = make.projection(hidden, mlp_size, number_of(Op::kDownProj)),
      .gate = shape.gelu ? llama::Projection() : make.projection(mlp_size, hidden, number_of(Op::kGateProj)),
  };
}

std::vector<at::Tensor> parameters(const DecoderBlock& block) {
  std::vector<at::Tensor> all = parameters_of_autograd(block);
  for (const llama::Projection* p : {&block.q, &block.k, &block.v, &block.o, &block.gate, &block.up, &block.down})
    for (const at::Tensor& tensor : {p->weight_OI, p->bias_O})
      if (tensor.defined()) all.push_back(tensor);
  return all;
}

std::vector<at::Tensor> parameters_of_autograd(const DecoderBlock& block) {
  std::vector<at::Tensor> all{block.positions_TH, block.attention_norm.weight_H, block.attention_norm.bias_H,
                              block.mlp_norm.weight_H, block.mlp_norm.bias_H};
  std::erase_if(all, [](const at::Tensor& tensor) { return !tensor.defined(); });
  return all;
}

at::Tensor block_forward(const DecoderBlock& block, at::Tensor x_BTH) {
  if (block.positions_TH.defined()) {
    const Scope scope(Category::kActivations, number_of(Op::kPositions));
    x_BTH = label_backward(x_BTH + block.positions_TH, Category::kActivations, number_of(Op::kPositions));
  }
  const auto of_attention = [&](const at::Tensor& x) {
    return dropped(block, attended(block, normed(block, block.attention_norm, x)), number_of(Op::kAttentionDropout));
  };
  const auto of_mlp = [&](const at::Tensor& x) {
    return dropped(block, mlp(block, normed(block, block.mlp_norm, x)), number_of(Op::kMlpDropout));
  };
  x_BTH = sum(x_BTH, of_attention(x_BTH), number_of(Op::kAttentionResidual));
  return sum(x_BTH, of_mlp(x_BTH), number_of(Op::kMlpResidual));
}

}  // namespace headroom::experiments
