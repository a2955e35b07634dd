// How the fused linear cross entropy cuts its work into parts, and the memory for a part of the logits: the same on every
// device. Plain arithmetic, in every build.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"
#include "kernels/cross_entropy/cross_entropy.h"

namespace headroom::kernels {

enum class FlceMode : std::uint8_t {
  kChunked,  // by chunks of tokens, as large as the memory beside dW allows
  kLean,     // all tokens, the vocabulary a slice at a time, logits twice; dX in fp32
  kReport,   // Liger-Kernel's rule: chunks so short that they hold about as much as x
};

struct FlceProblem {
  FlceMode mode = FlceMode::kChunked;
  Storage storage = Storage::kBf16;   // of x, weight and, but for kLean, dx
  bool fp32_weight_gradient = false;  // else dweight has `storage`
  std::int64_t tokens = 0, hidden = 0, vocab = 0;
  std::int64_t chunk = 0;         // tokens (kChunked) or columns (kLean) at most; 0, and for kReport: the default
  std::int64_t valid_count = -1;  // rows that are not ignored; -1: not known, all rows are taken
  std::int64_t ignore_index = -100;
  float label_smoothing = 0;
  Reduction reduction = Reduction::kMean;  // mean or sum
  bool weight_gradient = true;             // else the weight is frozen: no dweight
  bool accumulate = false;                 // adds to dweight
  bool loss_only = false;                  // no gradient of the weight or of x
  bool search = true;                      // time cuBLASLt's algorithms once per shape
  bool tf32 = false;                       // fp32 is multiplied as tf32
};

// Tokens per chunk (kChunked, kReport) or columns per slice (kLean) if the caller gives none.
// kChunked: 1024, or 2048 with an fp32 weight gradient, never more than N. kLean: slices of 76 MiB.
// kReport: next power of two of ⌈N / ⌈V/H⌉⌉. N 8192, V 128256, H 4096: ⌈V/H⌉ = 32, so 256.
std::int64_t flce_default_chunk(FlceMode mode, std::int64_t tokens, std::int64_t hidden, std::int64_t vocab,
                                std::int64_t element_bytes, bool fp32_weight_gradient);

// Whether ignored rows are left out: the rest is copied together, a chunk at a time. kLean takes all rows.
bool flce_gathers(const FlceProblem& problem);
// Rows that are multiplied, and how many of them (kChunked, kReport) or columns (kLean) at a time.
std::int64_t flce_rows(const FlceProblem& problem);
std::int64_t flce_step(const FlceProblem& problem);
// Elements from one row of the part of the logits to the next: a multiple of 8, so that rows begin at 16 bytes.
std::int64_t flce_logits_stride(const FlceProblem& problem);
// What the part of the logits takes.
std::int64_t flce_logits_bytes(const FlceProblem& problem);

}  // namespace headroom::kernels
