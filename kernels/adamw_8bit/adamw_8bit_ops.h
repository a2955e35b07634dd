// AdamW whose moments take one byte per element, on tensors; block-wise quantization by itself; plain references.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/ATen.h>

#include "kernels/adamw/adamw_ops.h"
#include "kernels/adamw_8bit/adamw_8bit.h"

namespace headroom::kernels {

// One weight of n elements and what its step reads; all contiguous, on one device. param, gradient, working, decays and
// number as in AdamWParameter. State of all zeros is the start: code 0 means 0 in both maps.
struct AdamW8bitParameter {
  at::Tensor param, gradient;
  at::Tensor m_codes, m_absmax;  // first moment: uint8 [n], signed map; fp32 [quantised_blocks(n)]
  at::Tensor v_codes, v_absmax;  // second moment: uint8 [n], unsigned map; fp32 [quantised_blocks(n)]
  bool decays = true;
  at::Tensor working;
  std::int64_t number = -1;
};

// One step in place over all of them, on CPU, CUDA or meta (where it only checks): one launch for every combination of
// types and 320 tensors. The moments are fp32 in registers only. Allocates nothing on any device. CPU and CUDA give the
// same codes; the parameters may differ by two units in fp32's last place before they are rounded.
void adamw_8bit(std::span<const AdamW8bitParameter> parameters, const AdamWStep& step,
                const AdamWControl& control = {});

struct BlockQuantised {
  at::Tensor codes;   // uint8 [n]
  at::Tensor absmax;  // fp32 [quantised_blocks(n)]
};

// Block-wise dynamic quantization of x (fp32, bf16 or fp16, contiguous, any shape) as the optimizer does it; the
// unsigned map takes |x| and never lets a number above zero become zero. A block with inf or NaN has nothing finite
// afterwards.
BlockQuantised quantise_blockwise(const at::Tensor& x, bool is_signed);

// fp32 [n].
at::Tensor dequantise_blockwise(const at::Tensor& codes, const at::Tensor& absmax, bool is_signed, std::int64_t n);

// The 256 values of a map by their codes, float64 on the CPU, written down bit by bit as the paper describes them.
at::Tensor dynamic_map_reference(bool is_signed);

// The same step from plain tensor operations in float64, on the parameter's device; state goes in and out dequantized,
// the result not yet quantized again.
AdamWReference adamw_8bit_reference(const AdamW8bitParameter& parameter, double learning_rate, double beta1,
                                    double beta2, double epsilon, double weight_decay, std::int64_t t);

}  // namespace headroom::kernels
