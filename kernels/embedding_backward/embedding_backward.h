// The gradient of an embedding table on raw memory. No torch.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headroom::kernels {

// A table row with more tokens than this is summed in segments of as many tokens, by a block each.
inline constexpr std::int64_t kEmbeddingSegment = 64;

// Segments of all such rows together: a row of c > 64 tokens has ⌈c / 64⌉ ≤ 2 c / 65 of them.
constexpr std::int64_t embedding_segments(std::int64_t tokens) { return tokens / (kEmbeddingSegment / 2); }

// 32-bit integers of the workspace: three totals, count and place of every table row, the tokens by row, the rows that
// have a token, the segments.
constexpr std::int64_t embedding_integers(std::int64_t tokens, std::int64_t vocab_size) {
  return 3 + 2 * vocab_size + 2 * tokens + 2 * embedding_segments(tokens);
}

struct EmbeddingBackwardArgs {
  const void* dy;                          // [N, H]
  const std::int64_t* ids;                 // [N]; on CUDA tokens with an id outside [0, V) are left out
  void* dweight;                           // [V, H]
  std::int64_t tokens, width, vocab_size;  // N, H, V; N and V below 2³¹
  Storage gradient;                        // of dy
  Storage table;                           // of dweight: dy's, or fp32
  bool accumulate;                         // adds to dweight; else writes every row
  std::int32_t* integers;                  // [embedding_integers(N, V)], need not be set
  float* segment_sums;                     // [embedding_segments(N), H], need not be set
};

// On the CPU: sorts the tokens by row on the calling thread. All ids are in [0, V).
void embedding_backward_sort_cpu(const EmbeddingBackwardArgs& args);
// Then zeros in those of the rows [begin, end) that no token names, on the calling thread; nothing where it accumulates.
void embedding_backward_zero_cpu(const EmbeddingBackwardArgs& args, std::int64_t begin, std::int64_t end);
// Then columns [begin, end) of every other row, on the calling thread: by columns, since one token may be most of a text.
void embedding_backward_cpu(const EmbeddingBackwardArgs& args, std::int64_t begin, std::int64_t end);

// Queues all of it on the stream; allocates nothing. Returns the first failed launch's cudaError_t (0: queued).
int embedding_backward_cuda(const EmbeddingBackwardArgs& args, CUstream_st* stream);

}  // namespace headroom::kernels
