// One AdamW step with moments in eight bits, and block-wise quantization by itself, on raw memory. No torch.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/adamw/adamw.h"
#include "kernels/common/storage.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headroom::kernels {

// Elements that share an absmax. The paper takes 2048; bitsandbytes, and we, 256.
inline constexpr std::int64_t kQuantisedBlock = 256;

constexpr std::int64_t quantised_blocks(std::int64_t n) { return (n + kQuantisedBlock - 1) / kQuantisedBlock; }
// Both moments of a tensor of n elements: 2 n + 8 ⌈n/256⌉, that is 2.031 B per element.
constexpr std::int64_t adamw_8bit_state_bytes(std::int64_t n) { return 2 * n + 8 * quantised_blocks(n); }

struct AdamW8bitTensor {
  void* param;            // [n]
  const void* gradient;   // [n]
  std::uint8_t* m_codes;  // [n], signed map
  float* m_absmax;        // [quantised_blocks(n)]
  std::uint8_t* v_codes;  // [n], unsigned map
  float* v_absmax;        // [quantised_blocks(n)]
  std::int64_t n;
  bool decays;
  void* working = nullptr;  // [n], where the types name one
  std::int64_t number = 0;  // of the tensor in the random numbers of stochastic rounding
};

// Blocks [begin, end) of one tensor on the calling thread. types.moment is not read.
void adamw_8bit_cpu(const AdamW8bitTensor& tensor, const AdamWTypes& types, std::int64_t begin, std::int64_t end,
                    const AdamWStep& step, const AdamWSwitches& switches);

// Queues all tensors on the stream, kMostTensors per launch; allocates nothing. Returns the first failed launch's
// cudaError_t (0: queued).
int adamw_8bit_cuda(std::span<const AdamW8bitTensor> tensors, const AdamWTypes& types, const AdamWStep& step,
                    const AdamWSwitches& switches, CUstream_st* stream);

struct QuantisedArray {
  std::uint8_t* codes;  // [n]
  float* absmax;        // [quantised_blocks(n)]
  std::int64_t n;
  bool is_signed;
};

// From x to the array, and from the array to fp32 y: blocks [begin, end), or all of them.
void quantise_blockwise_cpu(const void* x, Storage storage, const QuantisedArray& array, std::int64_t begin,
                            std::int64_t end);
void dequantise_blockwise_cpu(const QuantisedArray& array, float* y, std::int64_t begin, std::int64_t end);
int quantise_blockwise_cuda(const void* x, Storage storage, const QuantisedArray& array, CUstream_st* stream);
int dequantise_blockwise_cuda(const QuantisedArray& array, float* y, CUstream_st* stream);

}  // namespace headroom::kernels
