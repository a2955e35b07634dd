// A mix of GPT-2's and Llama's decoder blocks. Llama's parts come from demos/engine/llama, GPT-2's from PyTorch:
// LayerNorm, GELU, dropout, learned positions.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/attention.h"
#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/model/projection.h"
#include "demos/engine/llama/model/weights/weight_maker.h"
#include "demos/llama/architecture.h"

namespace headroom::experiments {

struct BlockNorm {
  at::Tensor weight_H, bias_H;  // RMSNorm has no bias
  std::uint16_t op = 0;
};

struct DecoderBlock {
  llama::Architecture shape;  // one layer
  llama::AttentionKernel attention = llama::AttentionKernel::kCpuFlash;
  at::Tensor positions_TH;  // undefined with RoPE
  llama::RopeTables rope;
  BlockNorm attention_norm, mlp_norm;
  llama::Projection q, k, v, o, up, down;
  llama::Projection gate;  // has no weight with GELU
};

// Draws weights from N(0, 0.02²); norm weights are 1, biases 0.
DecoderBlock make_block(const llama::Architecture& shape, const llama::ModelPlace& placement, std::uint64_t seed);

// Every parameter once: those in parameters_of_autograd(), then those of the projections.
std::vector<at::Tensor> parameters(const DecoderBlock& block);
// Norms and learned positions, whose gradients PyTorch's backward pass allocates as activations.
std::vector<at::Tensor> parameters_of_autograd(const DecoderBlock& block);

// Maps x [B, T, H] to [B, T, H]. Adds learned positions, if any, to x, then frees x like an embedding's output.
at::Tensor block_forward(const DecoderBlock& block, at::Tensor x_BTH);

}  // namespace headroom::experiments
