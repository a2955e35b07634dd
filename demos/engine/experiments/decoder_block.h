// One decoder block, between GPT-2's and Llama's. What Llama has is the model's own (demos/engine/llama); what GPT-2 has in
// its place is PyTorch's: LayerNorm, GELU, dropout, a learned table of positions.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/attention.h"
#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/model/projection.h"
#include "demos/engine/llama/model/weight_maker.h"
#include "demos/llama/architecture.h"

namespace headroom::experiments {

struct BlockNorm {
  at::Tensor weight_H, bias_H;  // the bias is LayerNorm's; undefined: RMSNorm
  std::uint16_t op = 0;
};

struct DecoderBlock {
  llama::Architecture shape;  // of one layer
  llama::AttentionKernel attention = llama::AttentionKernel::kCpuFlash;
  at::Tensor positions_TH;  // undefined: RoPE
  llama::RopeTables rope;   // undefined: a learned table
  BlockNorm attention_norm, mlp_norm;
  llama::Projection q, k, v, o, up, down;
  llama::Projection gate;  // without a weight: GELU
};

// Weights from N(0, 0.02²), norms 1, biases 0.
DecoderBlock make_block(const llama::Architecture& shape, const llama::Placement& placement, std::uint64_t seed);

// Every weight once, in the order of the forward pass.
std::vector<at::Tensor> parameters(const DecoderBlock& block);
// Those whose gradient comes out of PyTorch's own backward, among activations: of norms and of the table of positions.
std::vector<at::Tensor> parameters_of_autograd(const DecoderBlock& block);

// x [B, T, H] to the same. A learned table is added to x, which is then let go, as an embedding's result is.
at::Tensor block_forward(const DecoderBlock& block, at::Tensor x_BTH);

}  // namespace headroom::experiments
