// Computes    dweight[v] = Σ dy[n] over the tokens n with ids[n] = v, in the order of n (rows of more than 64 tokens:
//             in segments of 64, then the segments in their order); added to dweight, or written with the zeros of the
//             rows that no token has
// Shapes      dy [N, H], ids [N] int64, dweight [V, H]
// Precision   dy fp32, bf16 or fp16; dweight of the same or fp32; sums fp32, rounded once
// Memory      workspace of embedding_integers() integers and embedding_segments() fp32 rows, given by the caller; moves
//             N·H·s + V·H·s bytes (accumulate: the rows of the batch are read and written instead of all V written)
// Variants    16-byte accesses where H and the pointers allow it, else single elements
// Determinism integer atomics count the tokens of a row, which does not depend on their order, and place them in its
//             list in any order; the row's block sorts that list before it adds
// Checked by  tests/kernels/embedding_backward_gpu_test.cpp
#include <algorithm>
#include <cstdint>

#include "kernels/embedding_backward/embedding_backward.h"
#include "kernels/pack.cuh"
#include "kernels/storage.cuh"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kRowsPerBlock = 4;
constexpr int kSegment = static_cast<int>(kEmbeddingSegment);
static_assert(kSegment <= kThreads, "a thread an entry of a list");

// The parts of the workspace.
struct Lists {
  std::int32_t* totals;         // [2]: entries of `tokens`, segments
  std::int32_t* count;          // [V]
  std::int32_t* place;          // [V]: end of the row's list (after fill), or its first segment
  std::int32_t* tokens;         // [N]: lists of the rows with up to kSegment tokens
  std::int32_t* segment_row;    // [segments]
  std::int32_t* segment_index;  // [segments]: which of its row
};

Lists lists_of(const EmbeddingBackwardArgs& args) {
  Lists lists{};
  lists.totals = args.integers;
  lists.count = lists.totals + 2;
  lists.place = lists.count + args.vocab_size;
  lists.tokens = lists.place + args.vocab_size;
  lists.segment_row = lists.tokens + args.tokens;
  lists.segment_index = lists.segment_row + embedding_segments(args.tokens);
  return lists;
}

__device__ __forceinline__ std::int64_t thread_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

__global__ void count_kernel(EmbeddingBackwardArgs args, Lists lists) {
  const std::int64_t n = thread_index();
  const std::int64_t row = n < args.tokens ? args.ids[n] : -1;
  const unsigned alike = __match_any_sync(0xffffffffu, row);  // one sum for all tokens of a warp with the same id
  const bool first = __ffs(static_cast<int>(alike)) - 1 == static_cast<int>(threadIdx.x % kWarp);
  if (first && row >= 0 && row < args.vocab_size) atomicAdd(&lists.count[row], __popc(alike));
}

// Gives every row room for its list, or its segments. Where does not matter.
__global__ void place_kernel(EmbeddingBackwardArgs args, Lists lists) {
  const std::int64_t row = thread_index();
  const int count = row < args.vocab_size ? lists.count[row] : 0;
  const int listed = count <= kSegment ? count : 0;
  const int lane = threadIdx.x % kWarp;
  int before = listed;  // of this row and those before it in the warp
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, before, step);
    if (lane >= step) before += other;
  }
  int base = 0;
  if (lane == kWarp - 1 && before > 0) base = atomicAdd(&lists.totals[0], before);
  base = __shfl_sync(0xffffffffu, base, kWarp - 1);
  if (listed > 0) lists.place[row] = base + before - listed;
  if (count > kSegment) {
    const int segments = (count + kSegment - 1) / kSegment;
    const int first = atomicAdd(&lists.totals[1], segments);
    lists.place[row] = first;
    for (int i = 0; i < segments; ++i) {
      lists.segment_row[first + i] = static_cast<std::int32_t>(row);
      lists.segment_index[first + i] = i;
    }
  }
}

__global__ void fill_kernel(EmbeddingBackwardArgs args, Lists lists) {
  const std::int64_t n = thread_index();
  if (n >= args.tokens) return;
  const std::int64_t row = args.ids[n];
  if (row < 0 || row >= args.vocab_size || lists.count[row] > kSegment) return;
  lists.tokens[atomicAdd(&lists.place[row], 1)] = static_cast<std::int32_t>(n);
}

// Sums columns [column, column + kWidth) of the listed tokens in their order, with kBatch loads under way.
template <typename T, int kWidth>
__device__ __forceinline__ void add_tokens(const EmbeddingBackwardArgs& args, const int* tokens, int count,
                                           std::int64_t column, float (&sum)[kWidth]) {
  constexpr int kBatch = 8;
  const T* const dy = static_cast<const T*>(args.dy) + column;
  for (int begin = 0; begin < count; begin += kBatch) {
    Pack<T, kWidth> pack[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (begin + i < count) pack[i] = load_pack<kWidth>(dy + tokens[begin + i] * args.width);
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (begin + i >= count) break;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sum[e] += load(pack[i].element[e]);
    }
  }
}

// Block i sums segment i of the rows with many tokens, whose tokens it finds in order by going through the ids.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads) segment_kernel(EmbeddingBackwardArgs args, Lists lists) {
  constexpr int kIdsPerThread = 8;
  __shared__ int tokens[kSegment];
  __shared__ int warp_counts[kThreads / kWarp];
  const int segment = static_cast<int>(blockIdx.x);
  if (segment >= lists.totals[1]) return;
  const int row = lists.segment_row[segment];
  const int skipped = lists.segment_index[segment] * kSegment;
  const int count = min(kSegment, lists.count[row] - skipped);
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  int found = 0;  // tokens of the row before this stretch of ids
  for (std::int64_t begin = 0; found < skipped + count; begin += kThreads * kIdsPerThread) {
    const std::int64_t mine = begin + threadIdx.x * kIdsPerThread;
    unsigned matches = 0;
#pragma unroll
    for (int i = 0; i < kIdsPerThread; ++i) {
      if (mine + i < args.tokens && args.ids[mine + i] == row) matches |= 1u << i;
    }
    int before = __popc(matches);
#pragma unroll
    for (int step = 1; step < kWarp; step *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, before, step);
      if (lane >= step) before += other;
    }
    if (lane == kWarp - 1) warp_counts[warp] = before;
    __syncthreads();
    int rank = found + before - __popc(matches) - skipped;  // of this thread's first match, in the segment
    for (int w = 0; w < kThreads / kWarp; ++w) {
      if (w < warp) rank += warp_counts[w];
      found += warp_counts[w];
    }
    for (; matches != 0; matches &= matches - 1, ++rank) {
      if (rank >= 0 && rank < kSegment) tokens[rank] = static_cast<int>(mine) + __ffs(static_cast<int>(matches)) - 1;
    }
    __syncthreads();
  }
  float* const sums = args.segment_sums + segment * args.width;
  for (std::int64_t column = threadIdx.x * kWidth; column < args.width; column += kThreads * kWidth) {
    float sum[kWidth] = {};
    add_tokens<T, kWidth>(args, tokens, count, column, sum);
    Pack<float, kWidth> pack;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) pack.element[e] = sum[e];
    store_pack(sums + column, pack);
  }
}

// Puts the row's tokens into `tokens` in ascending order. At most one a thread.
__device__ void sort_tokens(const std::int32_t* list, int count, int* unsorted, int* tokens) {
  const int i = static_cast<int>(threadIdx.x);
  __syncthreads();  // the last row's list has been read
  if (i < count) unsorted[i] = list[i];
  __syncthreads();
  if (i < count) {
    int smaller = 0;
    for (int j = 0; j < count; ++j) smaller += unsorted[j] < unsorted[i];
    tokens[smaller] = unsorted[i];
  }
  __syncthreads();
}

template <typename W, int kWidth>
__device__ __forceinline__ void write_columns(W* place, const float (&sum)[kWidth], bool accumulate) {
  Pack<W, kWidth> pack{};
  if (accumulate) pack = load_pack<kWidth>(place);
#pragma unroll
  for (int e = 0; e < kWidth; ++e) store(pack.element[e], accumulate ? sum[e] + load(pack.element[e]) : sum[e]);
  store_pack(place, pack);
}

template <typename T, typename W, int kWidth>
__global__ void __launch_bounds__(kThreads) row_kernel(EmbeddingBackwardArgs args, Lists lists) {
  __shared__ int unsorted[kSegment], tokens[kSegment];
  const std::int64_t first_row = std::int64_t{blockIdx.x} * kRowsPerBlock;
  for (std::int64_t row = first_row; row < min(first_row + kRowsPerBlock, args.vocab_size); ++row) {
    const int count = lists.count[row];
    if (count == 0 && args.accumulate) continue;
    W* const dweight = static_cast<W*>(args.dweight) + row * args.width;
    if (count > 0 && count <= kSegment) sort_tokens(lists.tokens + lists.place[row] - count, count, unsorted, tokens);
    for (std::int64_t column = threadIdx.x * kWidth; column < args.width; column += kThreads * kWidth) {
      float sum[kWidth] = {};
      if (count <= kSegment) {
        add_tokens<T, kWidth>(args, tokens, count, column, sum);
      } else {
        const float* sums = args.segment_sums + lists.place[row] * args.width + column;
#pragma unroll 8
        for (int i = 0; i < count; i += kSegment, sums += args.width) {
          const Pack<float, kWidth> pack = load_pack<kWidth>(sums);
#pragma unroll
          for (int e = 0; e < kWidth; ++e) sum[e] += pack.element[e];
        }
      }
      write_columns<W, kWidth>(dweight + column, sum, args.accumulate);
    }
  }
}

template <typename T, typename W, int kWidth>
void launch(const EmbeddingBackwardArgs& args, const Lists& lists, CUstream_st* stream) {
  if (const std::int64_t segments = embedding_segments(args.tokens); segments > 0) {
    segment_kernel<T, kWidth><<<static_cast<unsigned>(segments), kThreads, 0, stream>>>(args, lists);
  }
  const auto blocks = static_cast<unsigned>((args.vocab_size + kRowsPerBlock - 1) / kRowsPerBlock);
  row_kernel<T, W, kWidth><<<blocks, kThreads, 0, stream>>>(args, lists);
}

template <typename T, typename W>
void launch(const EmbeddingBackwardArgs& args, const Lists& lists, CUstream_st* stream) {
  constexpr int kWidth = Vector<W>::kWidth;  // stores of 16 bytes side by side: whole sectors
  if (args.width % kWidth == 0 && aligned(args.dy) && aligned(args.dweight) && aligned(args.segment_sums)) {
    launch<T, W, kWidth>(args, lists, stream);
  } else {
    launch<T, W, 1>(args, lists, stream);
  }
}

unsigned blocks_for(std::int64_t threads) { return static_cast<unsigned>((threads + kThreads - 1) / kThreads); }

}  // namespace

int embedding_backward_cuda(const EmbeddingBackwardArgs& args, CUstream_st* stream) {
  if (args.vocab_size == 0 || args.width == 0) return cudaSuccess;
  const Lists lists = lists_of(args);
  const auto zeroed = static_cast<std::size_t>(2 + args.vocab_size) * sizeof(std::int32_t);  // totals and counts
  if (const int error = cudaMemsetAsync(args.integers, 0, zeroed, stream); error != cudaSuccess) return error;
  if (args.tokens > 0) {
    count_kernel<<<blocks_for(args.tokens), kThreads, 0, stream>>>(args, lists);
    place_kernel<<<blocks_for(args.vocab_size), kThreads, 0, stream>>>(args, lists);
    fill_kernel<<<blocks_for(args.tokens), kThreads, 0, stream>>>(args, lists);
  }
  with_storage(args.gradient, [&](auto type) {
    using T = decltype(type);
    if (args.table == args.gradient) {
      launch<T, T>(args, lists, stream);
    } else {
      launch<T, float>(args, lists, stream);
    }
  });
  return cudaGetLastError();
}

}  // namespace headroom::kernels
