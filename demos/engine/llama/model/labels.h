// Labels of the model's allocations in forward and backward.
#pragma once

#include <cstdint>
#include <functional>

#include <ATen/ATen.h>

#include "demos/record/scope.h"

namespace headroom::llama {

// Weights, gradients and moments have the name of their operator.
struct Operators {
  std::uint16_t tokens = record::intern_operator("tokens");
  std::uint16_t rope_tables = record::intern_operator("rope.tables");
  std::uint16_t blas_workspace = record::intern_operator("matmul.workspace");
  std::uint16_t embedding = record::intern_operator("embedding");
  std::uint16_t attention_norm = record::intern_operator("attention.rms_norm");
  std::uint16_t q_proj = record::intern_operator("attention.q_proj");
  std::uint16_t k_proj = record::intern_operator("attention.k_proj");
  std::uint16_t v_proj = record::intern_operator("attention.v_proj");
  std::uint16_t q_norm = record::intern_operator("attention.q_norm");
  std::uint16_t k_norm = record::intern_operator("attention.k_norm");
  std::uint16_t rope = record::intern_operator("attention.rope");
  std::uint16_t mask = record::intern_operator("attention.mask");
  std::uint16_t repeat_kv = record::intern_operator("attention.repeat_kv");
  std::uint16_t scores = record::intern_operator("attention.scores");
  std::uint16_t o_proj = record::intern_operator("attention.o_proj");
  std::uint16_t attention_residual = record::intern_operator("attention.residual");
  std::uint16_t mlp_norm = record::intern_operator("mlp.rms_norm");
  std::uint16_t gate_proj = record::intern_operator("mlp.gate_proj");
  std::uint16_t up_proj = record::intern_operator("mlp.up_proj");
  std::uint16_t silu = record::intern_operator("mlp.silu");
  std::uint16_t product = record::intern_operator("mlp.product");
  std::uint16_t down_proj = record::intern_operator("mlp.down_proj");
  std::uint16_t mlp_residual = record::intern_operator("mlp.residual");
  std::uint16_t finite_check = record::intern_operator("layer.finite_check");
  std::uint16_t final_norm = record::intern_operator("final.rms_norm");
  std::uint16_t lm_head = record::intern_operator("lm_head");
  std::uint16_t loss_cast = record::intern_operator("loss.to_fp32");
  std::uint16_t loss_shift = record::intern_operator("loss.shift");
  std::uint16_t log_softmax = record::intern_operator("loss.log_softmax");
  std::uint16_t nll = record::intern_operator("loss.nll");
  std::uint16_t fp8_scales = record::intern_operator("fp8.scales");
  std::uint16_t adamw = record::intern_operator("adamw");
  std::uint16_t adamw_first_moment = record::intern_operator("adamw.first_moment");
  std::uint16_t adamw_second_moment = record::intern_operator("adamw.second_moment");
};
const Operators& operators();

// Sets the category of the whole storage, from its birth. The allocator's context identifies it: the address on CPU and
// CUDA, the allocator's record on meta.
void relabel(const at::Tensor& tensor, record::Category category);

// x, with a call when backward reaches its gradient. The node is created last, so that everything computed from x has
// been through backward then, and nothing before x.
at::Tensor on_backward(const at::Tensor& x, std::function<void()> call);

// y, with a label for backward's allocations from y's gradient to the next label or layer border. For PyTorch's own
// operators, whose backward cannot hold a Scope.
at::Tensor label_backward(const at::Tensor& y, record::Category category, std::uint16_t op);

// Labels backward until the next label, mark or end of BackwardLabels.
void set_backward_label(record::Category category, std::uint16_t op);

// record::mark for backward; ends the label first, which restores the previous tag.
void mark_backward(record::Phase phase, std::uint16_t layer = record::kNoLayer, std::uint16_t micro_batch = 0);

// Around a call of backward: ends its label, even after an exception.
class BackwardLabels {
 public:
  BackwardLabels() = default;
  ~BackwardLabels();
  BackwardLabels(const BackwardLabels&) = delete;
  BackwardLabels& operator=(const BackwardLabels&) = delete;
};

}  // namespace headroom::llama
