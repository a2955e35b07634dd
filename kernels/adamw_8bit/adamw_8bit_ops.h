// AdamW with one byte per moment element, on tensors; block-wise quantization.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/ATen.h>

#include "kernels/adamw/adamw_ops.h"
#include "kernels/adamw_8bit/adamw_8bit.h"

namespace headroom::kernels {

// A weight of n elements and its state, contiguous on one device. Other members are as in AdamWParameter. The initial
// state is all zeros, since code 0 means 0 in both maps.
struct AdamW8bitParameter {
  at::Tensor param, gradient;
  at::Tensor m_codes, m_absmax;  // first moment: uint8 [n], signed map; fp32 [quantised_blocks(n)]
  at::Tensor v_codes, v_absmax;  // second moment: uint8 [n], unsigned map; fp32 [quantised_blocks(n)]
  bool decays = true;
  at::Tensor working;
  std::int64_t number = -1;
};

// One step in place, with adamw()'s devices, launches and errors. CPU and CUDA give the same codes; parameters may
// differ by two fp32 ulp before rounding.
void adamw_8bit(std::span<const AdamW8bitParameter> parameters, const AdamWStep& step,
                const AdamWControl& control = {});

struct BlockQuantised {
  at::Tensor codes;   // uint8 [n]
  at::Tensor absmax;  // fp32 [quantised_blocks(n)]
};

// Quantizes x (fp32, bf16 or fp16, contiguous, any shape) like the optimizer. The unsigned map encodes |x|, and gives
// the code of 0 only to 0. A block with inf or NaN dequantizes to no finite number.
BlockQuantised quantise_blockwise(const at::Tensor& x, bool is_signed);

// Returns fp32 [n].
at::Tensor dequantise_blockwise(const at::Tensor& codes, const at::Tensor& absmax, bool is_signed, std::int64_t n);

// A map's 256 values, indexed by code, in float64 on the CPU, decoded as in the paper.
at::Tensor dynamic_map_reference(bool is_signed);

// The step in float64 on the parameter's device. It returns unquantized moments.
AdamWReference adamw_8bit_reference(const AdamW8bitParameter& parameter, double learning_rate, double beta1,
                                    double beta2, double epsilon, double weight_decay, std::int64_t t);

}  // namespace headroom::kernels
