// The output layer and its cross entropy, a part of the logits at a time, on raw memory. No torch.
#pragma once

#include <cstdint>

#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/storage.h"

namespace headroom::kernels {

enum class FlceMode : std::uint8_t {
  kChunked,  // tokens a chunk at a time, as many as the memory beside dW allows
  kLean,     // all tokens, the vocabulary a slice at a time, logits twice; dX in fp32
  kReport,   // Liger-Kernel's rule: chunks so short that they hold about as much as x
};

// Tokens a chunk (kChunked, kReport) or columns a slice (kLean) where the caller names none.
// kChunked: 1024, or 2048 with an fp32 weight gradient, never more than N. kLean: slices of 64 MiB.
// kReport: next power of two of ⌈N / ⌈V/H⌉⌉. N 8192, V 128256, H 4096: ⌈V/H⌉ = 32, so 256.
std::int64_t flce_default_chunk(FlceMode mode, std::int64_t tokens, std::int64_t hidden, std::int64_t vocab,
                                std::int64_t element_bytes, bool fp32_weight_gradient);

}  // namespace headroom::kernels
