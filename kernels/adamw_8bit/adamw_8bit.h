// One AdamW step with 8-bit moments, and block-wise quantization.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/adamw/adamw.h"
#include "kernels/common/storage.h"

namespace headroom::kernels {

// Elements that share an absmax: 2048 in the paper, 256 in bitsandbytes and here.
inline constexpr std::int64_t kQuantisedBlock = 256;

constexpr std::int64_t quantised_blocks(std::int64_t n) { return (n + kQuantisedBlock - 1) / kQuantisedBlock; }
// 2 n + 8 ⌈n/256⌉ bytes for both moments, 2.031 B per element.
constexpr std::int64_t adamw_8bit_state_bytes(std::int64_t n) { return 2 * n + 8 * quantised_blocks(n); }

struct AdamW8bitTensor {
  void* param = nullptr;            // [n]
  const void* gradient = nullptr;   // [n]
  std::uint8_t* m_codes = nullptr;  // [n], signed map
  float* m_absmax = nullptr;        // [quantised_blocks(n)]
  std::uint8_t* v_codes = nullptr;  // [n], unsigned map
  float* v_absmax = nullptr;        // [quantised_blocks(n)]
  std::int64_t n = 0;
  bool decays = true;
  void* working = nullptr;  // [n], optional
  std::int64_t number = 0;  // for stochastic rounding
};

// Steps blocks [begin, end) of one tensor; types.moment is ignored.
void adamw_8bit_cpu(const AdamW8bitTensor& tensor, const AdamWTypes& types, std::int64_t begin, std::int64_t end,
                    const AdamWStep& step, const AdamWSwitches& switches);

int adamw_8bit_cuda(std::span<const AdamW8bitTensor> tensors, const AdamWTypes& types, const AdamWStep& step,
                    const AdamWSwitches& switches, CUstream_st* stream);

struct QuantisedArray {
  std::uint8_t* codes;  // [n]
  float* absmax;        // [quantised_blocks(n)]
  std::int64_t n;
  bool is_signed;
};

// Quantize x, or dequantize into fp32 y: on the CPU blocks [begin, end), on CUDA all blocks.
void quantise_blockwise_cpu(const void* x, Storage storage, const QuantisedArray& array, std::int64_t begin,
                            std::int64_t end);
void dequantise_blockwise_cpu(const QuantisedArray& array, float* y, std::int64_t begin, std::int64_t end);
int quantise_blockwise_cuda(const void* x, Storage storage, const QuantisedArray& array, CUstream_st* stream);
int dequantise_blockwise_cuda(const QuantisedArray& array, float* y, CUstream_st* stream);

}  // namespace headroom::kernels
