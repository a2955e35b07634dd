// The gradient of an embedding table.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"

namespace headroom::kernels {

// A table row with more tokens than this is summed in segments of this size, one per block.
inline constexpr std::int64_t kEmbeddingSegment = 64;

// A row of c > 64 tokens has ⌈c / 64⌉ ≤ 2 c / 65 < c / 32 segments.
constexpr std::int64_t embedding_segments(std::int64_t tokens) { return tokens / (kEmbeddingSegment / 2); }

// Integers in the workspace: three totals, count and place of every table row, tokens by row, rows with a token,
// segments' rows and indices.
constexpr std::int64_t embedding_integers(std::int64_t tokens, std::int64_t vocab_size) {
  return 3 + 2 * vocab_size + 2 * tokens + 2 * embedding_segments(tokens);
}

struct EmbeddingBackwardArgs {
  const void* dy;                          // [N, H]
  const std::int64_t* ids;                 // [N]; CUDA skips tokens with an id outside [0, V)
  void* dweight;                           // [V, H]
  std::int64_t tokens, width, vocab_size;  // N, H, V; N and V below 2³¹
  Storage gradient;                        // type of dy
  Storage table;                           // type of dweight: dy's, or fp32
  bool accumulate;                         // adds to dweight, otherwise writes every row
  std::int32_t* integers;                  // [embedding_integers(N, V)], uninitialized
  float* segment_sums;                     // [embedding_segments(N), H], uninitialized
};

// First: sorts the tokens by row. All ids are in [0, V).
void embedding_backward_sort_cpu(const EmbeddingBackwardArgs& args);
// Second: zeros the rows of [begin, end) without a token; a no-op with `accumulate`.
void embedding_backward_zero_cpu(const EmbeddingBackwardArgs& args, std::int64_t begin, std::int64_t end);
// Third: sums columns [begin, end) of all rows with a token. Work is split by columns, because one token may fill most
// of a text.
void embedding_backward_cpu(const EmbeddingBackwardArgs& args, std::int64_t begin, std::int64_t end);

int embedding_backward_cuda(const EmbeddingBackwardArgs& args, CUstream_st* stream);

}  // namespace headroom::kernels
