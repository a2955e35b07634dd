// NF4 with double quantization.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"

namespace headroom::kernels {

// The 16 levels of NormalFloat4 as published (arXiv:2305.14314, appendix E), bit for bit: quantiles of the normal
// distribution, 8 negative and 9 positive with a shared zero, divided by the largest.
inline constexpr float kNf4Levels[16] = {
    -1.0f,
    -0.6961928009986877f,
    -0.5250730514526367f,
    -0.39491748809814453f,
    -0.28444138169288635f,
    -0.18477343022823334f,
    -0.09105003625154495f,
    0.0f,
    0.07958029955625534f,
    0.16093020141124725f,
    0.24611230194568634f,
    0.33791524171829224f,
    0.44070982933044434f,
    0.5626170039176941f,
    0.7229568362236023f,
    1.0f,
};

inline constexpr std::int64_t kNf4Block = 64;        // weights that share an absmax
inline constexpr std::int64_t kNf4ScaleBlock = 256;  // absmaxes that share a scale

constexpr std::int64_t nf4_blocks(std::int64_t n) { return (n + kNf4Block - 1) / kNf4Block; }
constexpr std::int64_t nf4_scales(std::int64_t n) { return (nf4_blocks(n) + kNf4ScaleBlock - 1) / kNf4ScaleBlock; }
// Bytes: about 0.516 n (4.127 bits per weight).
constexpr std::int64_t nf4_bytes(std::int64_t n) { return (n + 1) / 2 + nf4_blocks(n) + 4 * nf4_scales(n) + 4; }

struct Nf4Args {
  std::uint8_t* codes;         // [⌈n/2⌉]
  std::uint8_t* absmax_codes;  // [nf4_blocks(n)]
  float* absmax_scale;         // [nf4_scales(n)]
  float* absmax_mean;          // [1]
  std::int64_t n;
};

// `absmax` is scratch of nf4_blocks(n) numbers.
int nf4_quantise_cuda(const void* weight, Storage storage, const Nf4Args& args, float* absmax, CUstream_st* stream);
int nf4_dequantise_cuda(const Nf4Args& args, void* weight, Storage storage, CUstream_st* stream);

// First: computes codes and absmaxes of blocks [begin, end).
void nf4_quantise_cpu(const void* weight, Storage storage, const Nf4Args& args, float* absmax, std::int64_t begin,
                      std::int64_t end);
// Then, once: quantizes the absmaxes.
void nf4_quantise_absmax_cpu(const Nf4Args& args, const float* absmax);
void nf4_dequantise_cpu(const Nf4Args& args, void* weight, Storage storage, std::int64_t begin, std::int64_t end);

}  // namespace headroom::kernels
