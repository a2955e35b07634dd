// Causal attention by the fused kernel that suits the device, or from plain operators. The kernel is called directly:
// PyTorch chooses by the tensor's device, and on meta it would not choose the one that the real device gets.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "demos/predict/techniques.h"
#include "demos/record/units.h"

namespace headroom::llama {

enum class AttentionKernel : std::uint8_t {
  kCpuFlash,       // CPU, all types
  kCudaFlash,      // bf16 and fp16; takes fewer key/value heads than query heads as they are
  kCudaCudnn,      // as kCudaFlash, by cuDNN: quicker on Hopper, with smaller scratch in backward
  kCudaEfficient,  // fp32, which flash does not take; needs as many key/value heads as query heads
  kEager,          // plain operators, which write the T × T scores
};

using predict::Attention;  // what a run asks for

AttentionKernel attention_kernel(Attention asked, record::DeviceKind target, at::ScalarType type);

// [T, T] to add to scores: 0 on and below the diagonal, above it the type's most negative number.
at::Tensor causal_mask(std::int64_t length, const at::TensorOptions& options);

// softmax(q kᵀ / √D) v, each position looking at itself and those before. q [B, A, T, D]; k, v [B, K, T, D]; result
// [B, A, T, D], in memory as [B, T, A, D]. Keeps q, k, v, the result and one fp32 per row (log-sum-exp), never T × T.
// Dao 2023, FlashAttention-2, arXiv:2307.08691; Rabe and Staats 2021, arXiv:2112.05682.
//
// kEager, as Hugging Face's eager model: keeps copies of q, k and v with a head for every query head, and the
// probabilities [B, A, T, T] twice, in fp32 and in the model's type. Only it reads `mask_TT`.
at::Tensor causal_attention(const at::Tensor& q_BATD, const at::Tensor& k_BKTD, const at::Tensor& v_BKTD,
                            AttentionKernel kernel, const at::Tensor& mask_TT = {});

}  // namespace headroom::llama
