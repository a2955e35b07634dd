// The operators of the demos' models and optimizers: the only list of their names in recordings and for readers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "demos/record/find.h"

namespace headroom::llama {

enum class Op : std::uint8_t {
  kTokens,
  kRopeTables,
  kBlasWorkspace,
  kFiniteCheck,
  kEmbedding,
  kPositions,
  kAttentionNorm,
  kAttentionLayerNorm,
  kQProj,
  kKProj,
  kVProj,
  kQNorm,
  kKNorm,
  kRope,
  kMask,
  kRepeatKv,
  kScores,
  kOProj,
  kAttentionDropout,
  kAttentionPostNorm,
  kAttentionResidual,
  kMlpNorm,
  kMlpLayerNorm,
  kRouter,
  kGateProj,
  kUpProj,
  kSilu,
  kProduct,
  kGelu,
  kDownProj,
  kMlpDropout,
  kMlpPostNorm,
  kMlpResidual,
  kFinalNorm,
  kLmHead,
  kLossCast,
  kLossShift,
  kLogSoftmax,
  kNll,
  kLossScale,
  kMagnitudes,
  kFp8Scales,
  kLayerInput,
  kLayerWeights,
  kWeightShares,
  kGatheredWeights,
  kGradientShares,
  kSummedGradients,
  kAdamW,
  kMaster,
  kFirstMoment,
  kSecondMoment,
  kStepCount,
  kClip,
  kScratch,
  kHostGradient,
  kHostWeights,
  kOverflow,
  kFileBuffer,
  kProjection,
  kProjectedUpdate,
  kQuantise,
  kBlockInput,
  kBlockUpstream,
};

struct Operator {
  Op op{};
  std::string_view name;            // name in recordings; also of the operator's weights, gradients and moments
  std::string_view part = {};       // names weights, their gradients and workspace: "MLP"
  std::string_view output = {};     // names what the operator keeps; empty: readers see `name`
  std::string_view operation = {};  // names what the operator computes; empty: last part of `name`
  std::string_view module = {};     // name of a layer's weight in Hugging Face checkpoints
};

// Readers see operators with the same words as one row.
namespace words {
inline constexpr std::string_view kGate = "MLP gate, up, product", kQkv = "Query, key, value",
                                  kStream = "Norm inputs, residuals", kTokens = "Embedded tokens";
}

inline constexpr std::array kOperators{
    Operator{Op::kTokens, "tokens", "", "Token ids", "token ids"},
    Operator{Op::kRopeTables, "rope.tables", "", "RoPE tables", "RoPE"},
    Operator{Op::kBlasWorkspace, "matmul.workspace", "Matrix product", "Matrix products"},
    Operator{Op::kFiniteCheck, "layer.finite_check", "", "Marks of NaN"},
    Operator{Op::kEmbedding, "embedding", "Embedding", words::kTokens},
    Operator{Op::kPositions, "positions", "Positions", words::kTokens},
    Operator{Op::kAttentionNorm, "attention.rms_norm", "Norm", words::kStream, "RMSNorm", "input_layernorm"},
    Operator{Op::kAttentionLayerNorm, "attention.layer_norm", "Norm", words::kStream, "LayerNorm"},
    Operator{Op::kQProj, "attention.q_proj", "Attention", words::kQkv, "q projection", "self_attn.q_proj"},
    Operator{Op::kKProj, "attention.k_proj", "Attention", words::kQkv, "k projection", "self_attn.k_proj"},
    Operator{Op::kVProj, "attention.v_proj", "Attention", words::kQkv, "v projection", "self_attn.v_proj"},
    Operator{Op::kQNorm, "attention.q_norm", "Norm", words::kQkv, "", "self_attn.q_norm"},
    Operator{Op::kKNorm, "attention.k_norm", "Norm", words::kQkv, "", "self_attn.k_norm"},
    Operator{Op::kRope, "attention.rope", "", words::kQkv, "RoPE"},
    Operator{Op::kMask, "attention.mask", "", "Attention mask", "attention"},
    Operator{Op::kRepeatKv, "attention.repeat_kv", "", words::kQkv, "attention"},
    Operator{Op::kScores, "attention.scores", "Attention", "Attention outputs", "attention"},
    Operator{Op::kOProj, "attention.o_proj", "Attention", words::kStream, "o projection", "self_attn.o_proj"},
    Operator{Op::kAttentionDropout, "attention.dropout", "", "Dropout"},
    Operator{Op::kAttentionPostNorm, "attention.post_norm"},
    Operator{Op::kAttentionResidual, "attention.residual", "", words::kStream, "residual add"},
    Operator{Op::kMlpNorm, "mlp.rms_norm", "Norm", words::kStream, "RMSNorm", "post_attention_layernorm"},
    Operator{Op::kMlpLayerNorm, "mlp.layer_norm", "Norm", words::kStream, "LayerNorm"},
    Operator{Op::kRouter, "mlp.router"},
    Operator{Op::kGateProj, "mlp.gate_proj", "MLP", words::kGate, "gate projection", "mlp.gate_proj"},
    Operator{Op::kUpProj, "mlp.up_proj", "MLP", words::kGate, "up projection", "mlp.up_proj"},
    Operator{Op::kSilu, "mlp.silu", "", words::kGate, "SwiGLU"},
    Operator{Op::kProduct, "mlp.product", "", words::kGate, "SwiGLU"},
    Operator{Op::kGelu, "mlp.gelu", "", "GELU", "GELU"},
    Operator{Op::kDownProj, "mlp.down_proj", "MLP", words::kStream, "down projection", "mlp.down_proj"},
    Operator{Op::kMlpDropout, "mlp.dropout", "", "Dropout"},
    Operator{Op::kMlpPostNorm, "mlp.post_norm"},
    Operator{Op::kMlpResidual, "mlp.residual", "", words::kStream, "residual add"},
    Operator{Op::kFinalNorm, "final.rms_norm", "Norm", words::kStream, "RMSNorm"},
    Operator{Op::kLmHead, "lm_head", "Output head", "Logits", "output head"},
    Operator{Op::kLossCast, "loss.to_fp32", "", "Logits in fp32", "cross entropy"},
    Operator{Op::kLossShift, "loss.shift", "", "Shifted logits", "cross entropy"},
    Operator{Op::kLogSoftmax, "loss.log_softmax", "", "Log-softmax", "cross entropy"},
    Operator{Op::kNll, "loss.nll", "", "Loss and its gradient", "cross entropy"},
    Operator{Op::kLossScale, "loss_scale", "Loss scale", "Loss scale"},
    Operator{Op::kMagnitudes, "magnitudes"},
    Operator{Op::kFp8Scales, "fp8.scales"},
    Operator{Op::kLayerInput, "layer.input", "", "Kept layer inputs"},
    Operator{Op::kLayerWeights, "layer.weights", "Streamed", "Streamed weights"},
    Operator{Op::kWeightShares, "weight.shares", "Rank's share", "Rank's share of weights"},
    Operator{Op::kGatheredWeights, "gathered.weights", "Gathered", "Gathered weights"},
    Operator{Op::kGradientShares, "gradient.shares", "Rank's share", "Rank's share of gradients"},
    Operator{Op::kSummedGradients, "summed.gradients", "Being summed", "Gradients being summed"},
    Operator{Op::kAdamW, "adamw", "", "", "AdamW"},
    Operator{Op::kMaster, "adamw.master", "Master weights", "Master weights"},
    Operator{Op::kFirstMoment, "adamw.first_moment", "First moment", "First moment", "AdamW"},
    Operator{Op::kSecondMoment, "adamw.second_moment", "Second moment", "Second moment", "AdamW"},
    Operator{Op::kStepCount, "adamw.step_count", "Step count", "Step count"},
    Operator{Op::kClip, "adamw.clip"},
    Operator{Op::kScratch, "adamw.scratch"},
    Operator{Op::kHostGradient, "adamw.gradient"},
    Operator{Op::kHostWeights, "adamw.weights"},
    Operator{Op::kOverflow, "adamw.overflow", "Marks of overflow", "Marks of overflow"},
    Operator{Op::kFileBuffer, "adamw.file_buffer"},
    Operator{Op::kProjection, "galore.projection", "Projection", "Projection"},
    Operator{Op::kProjectedUpdate, "galore.update", "Projected update", "Projected update"},
    Operator{Op::kQuantise, "moments.quantise"},
    Operator{Op::kBlockInput, "block.input", "", "Block input"},
    Operator{Op::kBlockUpstream, "block.upstream", "", "Gradient of the result"},
};
// One row per operator, in the order of Op.
static_assert([] {
  for (std::size_t i = 0; i < kOperators.size(); ++i)
    if (static_cast<std::size_t>(kOperators[i].op) != i) return false;
  return kOperators.back().op == Op::kBlockUpstream;
}());

constexpr const Operator& info_of(Op op) { return kOperators[static_cast<std::size_t>(op)]; }
constexpr std::string_view name_of(Op op) { return info_of(op).name; }

// Null for other programs' operators.
constexpr const Operator* find_operator(std::string_view name) {
  return record::find_in(kOperators, name, &Operator::name);
}

// "q_proj" for "attention.q_proj".
constexpr std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

}  // namespace headroom::llama
