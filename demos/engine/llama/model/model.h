// Llama and its relatives with biases or norms over heads, as plain tensors and functions.
// Shapes in this folder: B samples, T tokens per sample, N = B·T, H hidden, F feed-forward, V vocabulary, L layers,
// A query heads, K key/value heads, D head width, Q = A·D.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/adapters.h"
#include "demos/engine/llama/model/attention.h"
#include "demos/engine/llama/model/fused.h"
#include "demos/engine/llama/model/weights/state_tensor.h"
#include "demos/llama/config.h"
#include "demos/llama/files/hugging_face.h"
#include "demos/llama/layer_weights.h"
#include "demos/record/scope.h"
#include "demos/record/units.h"

namespace headroom::llama {

struct LayerWeights {
  at::Tensor attention_norm_H;
  at::Tensor q_proj_QH;
  at::Tensor k_proj_KH;  // rows: K·D
  at::Tensor v_proj_KH;  // rows: K·D
  at::Tensor o_proj_HQ;
  at::Tensor mlp_norm_H;
  at::Tensor gate_proj_FH;
  at::Tensor up_proj_FH;
  at::Tensor down_proj_HF;
  // Undefined if the config has none.
  at::Tensor q_bias_Q, k_bias_K, v_bias_K;
  at::Tensor q_norm_D, k_norm_D;
  at::Tensor o_bias_H;
};
// A member of LayerWeights; listed in the order of layer_weights().
struct LayerMember {
  Op op;
  WeightKind kind;
  at::Tensor LayerWeights::*tensor;
};
std::span<const LayerMember> layer_members();
// Null if layers have no such weight.
at::Tensor LayerWeights::*member_of(Op op, WeightKind kind);

struct Model {
  Config config;
  record::DeviceKind target = record::DeviceKind::kCpu;  // device whose allocations the model makes
  AttentionKernel attention = AttentionKernel::kCpuFlash;
  FusedKernels fused;
  at::Tensor embed_tokens_VH;
  std::vector<LayerWeights> layers;
  at::Tensor final_norm_H;
  at::Tensor lm_head_VH;  // the embedding table if tied
  at::Tensor mask_TT;
  AdapterOptions adapter_options;
  std::vector<LayerAdapters> adapters;  // per layer; empty: all weights are trained
  bool tf32 = false;                    // GEMMs of weights read their fp32 operands as tf32
  std::shared_ptr<Fp8Scales> fp8;       // for the layers' GEMMs; null: no fp8
  at::Tensor cos, sin;  // RoPE, positions 0 … T − 1: [T, 1, D] in the model's type; fused [T, D/2] in fp32
};

// A weight, named as in Hugging Face checkpoints ("model.layers.0.self_attn.q_proj.weight"), or the part of it that
// this rank updates.
struct Parameter {
  std::string name;
  at::Tensor tensor;
  std::uint16_t layer = record::kNoLayer;
  std::uint16_t op = record::kNoOperator;
  std::optional<Part> part = {};  // 1-D; none: the whole weight

  bool is_matrix() const { return (part ? static_cast<std::int64_t>(part->shape.size()) : tensor.dim()) > 1; }
  std::int64_t first() const { return part ? part->first : 0; }
};

// See experiments::RunPlace.
struct ModelPlace {
  at::Device device = at::kCPU;
  record::DeviceKind target = record::DeviceKind::kCpu;
  at::ScalarType type = at::kFloat;  // of weights, activations and gradients: fp32, bf16 or fp16
};

// Thrown once `cancel` is set. A cancelled step frees its gradients and changes no weights, except in layers already
// stepped in backward.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "the run was cancelled"; }
};

struct ModelSource {
  const StoredWeights* files = nullptr;  // a checkpoint of this config, not owned; null: random weights
  AdapterOptions adapters;
  // Called with each complete layer, before the next one; may be empty.
  std::function<void(LayerWeights&)> layer_made;
};

// Makes weights in the order of parameters(): random, drawn from N(0, 0.02²) with the seed, norms 1 and biases 0; or a
// checkpoint's, converted one by one. Random numbers depend on the device. On meta no file is read. Polls `cancel` (may
// be null) before every layer. Throws Cancelled and UnusableWeights.
Model make_model(const Config& config, const FusedKernels& fused, const ModelPlace& placement, std::int64_t seq,
                 std::uint64_t seed, const std::atomic<bool>* cancel = nullptr, const ModelSource& source = {});

// Makes cuBLAS allocate its workspace, under its own label.
void take_blas_workspace(const ModelPlace& placement);

// Every weight once, in forward order, a layer's adapters after its weights. A tied head is listed as the embedding.
// NF4 weights are excluded.
std::vector<Parameter> parameters(const Model& model);
std::vector<Parameter> trainable_parameters(const Model& model);
// The head's name among parameters(). A tied head is the embedding.
std::string head_name(const Model& model);

// x / √(mean(x²) + ε) · w over the last dimension, from plain operators like Hugging Face's eager model: with bf16 it
// keeps x and 1/√(mean(x²) + ε) in fp32, and the normalized x in bf16. Zhang and Sennrich 2019, arXiv:1910.07467.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight_H, double eps, std::uint16_t op);

// Rotates pairs (j, j + D/2) of every head by position · frequency_j. x [B, T, heads, D]. Su et al. 2021,
// arXiv:2104.09864, paired like Hugging Face weights.
at::Tensor rope(const at::Tensor& x_BTAD, const at::Tensor& cos_T1D, const at::Tensor& sin_T1D);

// silu(gate) ⊙ up. Shazeer 2020, arXiv:2002.05202.
at::Tensor swiglu(const at::Tensor& gate_BTF, const at::Tensor& up_BTF);

// θ^(−2j/D), j < D/2, scaled as the config says.
std::vector<float> rope_frequencies(const Config& config);

struct LayerOptions {
  // Recomputes cheap results (norms, SwiGLU's product, eager attention's scores; see rebuilt.h), and keeps the results
  // of GEMMs and the inputs of norms over heads. Korthikanti et al. 2022, arXiv:2205.05198, section 5.
  bool selective = false;
  // Only the graph is needed. Backward reads only the inputs of the last GEMM and of the last sum, so the results of
  // both are unmade (unmade.h). The last GEMM has 28 % of a layer's weights in Llama 3.2 1B.
  bool for_backward = false;
};
at::Tensor layer_forward(const Model& model, std::int64_t layer, const at::Tensor& x_BTH,
                         const LayerOptions& options = {});

}  // namespace headroom::llama
