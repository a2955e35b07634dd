// Causal attention by the device's fused kernel, or from plain operators. The kernel is called directly, since PyTorch
// would choose another one on meta.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "demos/predict/techniques.h"
#include "demos/record/units.h"

namespace headroom::llama {

enum class AttentionKernel : std::uint8_t {
  kCpuFlash,       // CPU, all types
  kCudaFlash,      // bf16 and fp16; supports fewer key/value heads than query heads
  kCudaCudnn,      // like kCudaFlash; faster on Hopper, less scratch in backward
  kCudaEfficient,  // fp32; needs as many key/value heads as query heads
  kEager,          // plain operators, with T × T scores
};

using predict::Attention;

AttentionKernel attention_kernel(Attention asked, record::DeviceKind target, at::ScalarType type);

// A [T, T] mask to add to scores: 0 on and below the diagonal, the type's most negative number above it.
at::Tensor causal_mask(std::int64_t length, const at::TensorOptions& options);

// Causal softmax(q kᵀ / √D) v. q [B, A, T, D]; k, v [B, K, T, D]; result [B, A, T, D], stored as [B, T, A, D]. Fused
// kernels keep q, k, v, the result and one fp32 number per row (log-sum-exp), never T × T numbers. Dao 2023,
// arXiv:2307.08691; Rabe and Staats 2021, arXiv:2112.05682. kEager, like Hugging Face's eager model, repeats k and v
// for every query head. It keeps q, k, v, and the probabilities [B, A, T, T] twice: in fp32 and in the model's type.
// Only kEager reads `mask_TT`.
at::Tensor causal_attention(const at::Tensor& q_BATD, const at::Tensor& k_BKTD, const at::Tensor& v_BKTD,
                            AttentionKernel kernel, const at::Tensor& mask_TT = {});

}  // namespace headroom::llama
