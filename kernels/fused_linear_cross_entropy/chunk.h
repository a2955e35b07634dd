// How much of the logits the fused linear cross entropy computes at a time. Plain arithmetic, in every build.
#pragma once

#include <cstdint>

namespace headroom::kernels {

enum class FlceMode : std::uint8_t {
  kChunked,  // by chunks of tokens, as large as the memory beside dW allows
  kLean,     // all tokens, the vocabulary a slice at a time, logits twice; dX in fp32
  kReport,   // Liger-Kernel's rule: chunks so short that they hold about as much as x
};

// Tokens per chunk (kChunked, kReport) or columns per slice (kLean) if the caller gives none.
// kChunked: 1024, or 2048 with an fp32 weight gradient, never more than N. kLean: slices of 76 MiB.
// kReport: next power of two of ⌈N / ⌈V/H⌉⌉. N 8192, V 128256, H 4096: ⌈V/H⌉ = 32, so 256.
std::int64_t flce_default_chunk(FlceMode mode, std::int64_t tokens, std::int64_t hidden, std::int64_t vocab,
                                std::int64_t element_bytes, bool fp32_weight_gradient);

}  // namespace headroom::kernels
