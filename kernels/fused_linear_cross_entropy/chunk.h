// How the fused linear cross entropy splits its work, the same on every device.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"
#include "kernels/cross_entropy/cross_entropy.h"

namespace headroom::kernels {

enum class FlceMode : std::uint8_t {
  kChunked,  // chunks of tokens
  kLean,     // slices of the vocabulary for all tokens; computes logits twice, dX in fp32
  kReport,   // Liger-Kernel's rule: chunks whose logits are about as large as x
};

struct FlceProblem {
  FlceMode mode = FlceMode::kChunked;
  Storage storage = Storage::kBf16;   // type of x, weight and, except for kLean, dx
  bool fp32_weight_gradient = false;  // if false, dweight has `storage`
  std::int64_t tokens = 0, hidden = 0, vocab = 0;
  std::int64_t chunk = 0;         // most tokens (kChunked) or columns (kLean) at a time; the default if 0 or kReport
  std::int64_t valid_count = -1;  // -1: unknown
  std::int64_t ignore_index = -100;
  float label_smoothing = 0;
  Reduction reduction = Reduction::kMean;  // mean or sum
  bool weight_gradient = true;             // false: the weight is frozen
  bool accumulate = false;                 // adds to dweight
  bool loss_only = false;
  bool tf32 = false;
};

// Default tokens per chunk (kChunked, kReport) or columns per slice (kLean).
// kChunked: 1024, or 2048 with an fp32 weight gradient, at most N. kLean: slices of 76 MiB.
// kReport: ⌈N / ⌈V/H⌉⌉, rounded up to a power of two. N 8192, V 128256, H 4096: ⌈V/H⌉ = 32, so 256.
std::int64_t flce_default_chunk(FlceMode mode, std::int64_t tokens, std::int64_t hidden, std::int64_t vocab,
                                std::int64_t element_bytes, bool fp32_weight_gradient);

// True if ignored rows are left out; kLean uses all rows.
bool flce_gathers(const FlceProblem& problem);
// Number of rows that the GEMMs multiply.
std::int64_t flce_rows(const FlceProblem& problem);
// Rows per chunk, or (kLean) columns per slice.
std::int64_t flce_step(const FlceProblem& problem);
// Elements between row starts in the logits: a multiple of 8, for 16-byte alignment.
std::int64_t flce_logits_stride(const FlceProblem& problem);
std::int64_t flce_logits_bytes(const FlceProblem& problem);

}  // namespace headroom::kernels
