// Computes    dweight[v] = Σ dy[n] over the tokens n with ids[n] = v, in the order of n (rows of more than 64 tokens:
//             in segments of 64, then the segments in order); rows without a token are zeros
// Shapes      dy [N, H], ids [N] int64, dweight [V, H]
// Precision   sums fp32, rounded once
// Memory      moves N·H·s + V·H·s bytes (with accumulate, reads and writes the batch's rows instead of writing all V)
// Variants    16-byte accesses if aligned, otherwise single elements. One kernel zeroes the rows without a token, a
//             warp per row; in another, each warp sums a slice of a row with tokens
// Determinism integer atomics count a row's tokens and list them in any order; the row's warp sorts the list before it
//             adds
// Checked by  tests/kernels/layers/embedding_backward_cases.cpp
#include <algorithm>

#include "kernels/common/pack.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/embedding_backward/embedding_backward.h"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kSegment = static_cast<int>(kEmbeddingSegment);
static_assert(kSegment <= kThreads, "a thread an entry of a list");

// Parts of the workspace.
struct Lists {
  std::int32_t* totals;         // [3]: used entries of `tokens`, of `segment_row`, of `rows`
  std::int32_t* count;          // [V]: tokens per row
  std::int32_t* place;          // [V]: end of the row's list (after fill_kernel), or the row's first segment
  std::int32_t* tokens;         // [N]: lists of the rows with up to kSegment tokens
  std::int32_t* rows;           // [N]: rows with a token, in any order
  std::int32_t* segment_row;    // [segments]: the segment's table row
  std::int32_t* segment_index;  // [segments]: index among its row's segments
};

Lists lists_of(const EmbeddingBackwardArgs& args) {
  Lists lists{};
  lists.totals = args.integers;
  lists.count = lists.totals + 3;
  lists.place = lists.count + args.vocab_size;
  lists.tokens = lists.place + args.vocab_size;
  lists.rows = lists.tokens + args.tokens;
  lists.segment_row = lists.rows + args.tokens;
  lists.segment_index = lists.segment_row + embedding_segments(args.tokens);
  return lists;
}

__device__ __forceinline__ std::int64_t thread_index() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

__global__ void count_kernel(EmbeddingBackwardArgs args, Lists lists) {
  const std::int64_t n = thread_index();
  const std::int64_t row = n < args.tokens ? args.ids[n] : -1;
  const unsigned alike = __match_any_sync(0xffffffffu, row);  // one atomic for a warp's tokens with the same id
  const bool first = __ffs(static_cast<int>(alike)) - 1 == static_cast<int>(threadIdx.x % kWarp);
  if (first && row >= 0 && row < args.vocab_size) atomicAdd(&lists.count[row], __popc(alike));
}

// Adds the `wanted` places of every thread in the warp to `total`; returns the thread's first place.
__device__ __forceinline__ int take_places(std::int32_t* total, int wanted) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  int before = wanted;  // sum over this thread and those before it
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, before, step);
    if (lane >= step) before += other;
  }
  int base = 0;
  if (lane == kWarp - 1 && before > 0) base = atomicAdd(total, before);
  return __shfl_sync(0xffffffffu, base, kWarp - 1) + before - wanted;
}

// Reserves room for every row's list or segments, in any order, and lists rows with a token.
__global__ void place_kernel(EmbeddingBackwardArgs args, Lists lists) {
  const std::int64_t row = thread_index();
  const int count = row < args.vocab_size ? lists.count[row] : 0;
  const int segments = count > kSegment ? (count + kSegment - 1) / kSegment : 0;
  const int first_token = take_places(&lists.totals[0], count > kSegment ? 0 : count);
  const int first_segment = take_places(&lists.totals[1], segments);
  const int entry = take_places(&lists.totals[2], count > 0 ? 1 : 0);
  if (count == 0) return;
  lists.rows[entry] = static_cast<std::int32_t>(row);
  lists.place[row] = segments > 0 ? first_segment : first_token;
  for (int i = 0; i < segments; ++i) {
    lists.segment_row[first_segment + i] = static_cast<std::int32_t>(row);
    lists.segment_index[first_segment + i] = i;
  }
}

__global__ void fill_kernel(EmbeddingBackwardArgs args, Lists lists) {
  const std::int64_t n = thread_index();
  if (n >= args.tokens) return;
  const std::int64_t row = args.ids[n];
  if (row < 0 || row >= args.vocab_size || lists.count[row] > kSegment) return;
  lists.tokens[atomicAdd(&lists.place[row], 1)] = static_cast<std::int32_t>(n);
}

// Adds rows row_of(0) to row_of(count − 1), in this order, to `sum`: kTiles packs of each row, the first at `column`,
// the next `stride` columns apart. Loads of kBatch rows are in flight.
template <int kTiles, int kBatch, typename T, int kWidth, typename RowOf>
__device__ __forceinline__ void add_rows(float (&sum)[kTiles][kWidth], int count, std::int64_t column, int stride,
                                         std::int64_t width, const RowOf& row_of) {
  for (int begin = 0; begin < count; begin += kBatch) {
    Pack<T, kWidth> pack[kBatch][kTiles];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const bool inside = begin + i < count && column + tile * stride < width;
        if (inside) pack[i][tile] = load_pack<kWidth>(row_of(begin + i) + column + tile * stride);
      }
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (begin + i >= count) break;
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        if (column + tile * stride >= width) break;
#pragma unroll
        for (int e = 0; e < kWidth; ++e) sum[tile][e] += load(pack[i][tile].element[e]);
      }
    }
  }
}

// Block i sums segment i of the rows with many tokens. It scans the ids to find the row's tokens in order.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads) segment_kernel(EmbeddingBackwardArgs args, Lists lists) {
  constexpr int kIdsPerThread = 8;
  __shared__ int tokens[kSegment];
  __shared__ int warp_counts[kWarps];
  const int segment = static_cast<int>(blockIdx.x);
  if (segment >= lists.totals[1]) return;
  const int row = lists.segment_row[segment];
  const int skipped = lists.segment_index[segment] * kSegment;
  const int count = min(kSegment, lists.count[row] - skipped);
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  int found = 0;  // the row's tokens before `begin`
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
    int rank = found + before - __popc(matches) - skipped;  // rank of this thread's first match
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) rank += warp_counts[w];
      found += warp_counts[w];
    }
    for (; matches != 0; matches &= matches - 1, ++rank) {
      if (rank >= 0 && rank < kSegment) tokens[rank] = static_cast<int>(mine) + __ffs(static_cast<int>(matches)) - 1;
    }
    __syncthreads();
  }
  const auto dy = [&](int i) { return static_cast<const T*>(args.dy) + tokens[i] * args.width; };
  float* const sums = args.segment_sums + segment * args.width;
  for (std::int64_t column = threadIdx.x * kWidth; column < args.width; column += kThreads * kWidth) {
    float sum[1][kWidth] = {};
    add_rows<1, 8, T, kWidth>(sum, count, column, 0, args.width, dy);
    Pack<float, kWidth> pack;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) pack.element[e] = sum[0][e];
    store_pack(sums + column, pack);
  }
}

// Each warp zeroes one row without tokens.
template <typename W, int kWidth>
__global__ void __launch_bounds__(kThreads) zero_kernel(EmbeddingBackwardArgs args, Lists lists) {
  const std::int64_t row = thread_index() / kWarp;
  if (row >= args.vocab_size || lists.count[row] != 0) return;
  W* const dweight = static_cast<W*>(args.dweight) + row * args.width;
  for (std::int64_t column = threadIdx.x % kWarp * kWidth; column < args.width; column += kWarp * kWidth) {
    store_pack(dweight + column, Pack<W, kWidth>{});
  }
}

// Sorts a row's tokens with the warp, two per lane.
__device__ __forceinline__ void sort_tokens(const std::int32_t* list, int count, int* unsorted, int* tokens) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int i = lane; i < count; i += kWarp) unsorted[i] = list[i];
  __syncwarp();
  for (int i = lane; i < count; i += kWarp) {
    int smaller = 0;
    for (int j = 0; j < count; ++j) smaller += unsorted[j] < unsorted[i];
    tokens[smaller] = unsorted[i];
  }
  __syncwarp();
}

constexpr int kTiles = 2, kBatch = 2;  // a thread loads kTiles packs of each of kBatch rows at a time

__host__ __device__ constexpr std::int64_t slice_columns(int width) { return std::int64_t{kTiles} * kWarp * width; }

// Each warp sums a slice of a row, from the row's tokens or segments.
template <typename T, typename W, int kWidth>
__global__ void __launch_bounds__(kThreads) row_kernel(EmbeddingBackwardArgs args, Lists lists, int slices) {
  constexpr int kStride = kWarp * kWidth;
  __shared__ int unsorted[kWarps][kSegment], sorted[kWarps][kSegment];
  const std::int64_t entry = thread_index() / kWarp / slices;
  if (entry >= lists.totals[2]) return;
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t column = thread_index() / kWarp % slices * slice_columns(kWidth) + lane * kWidth;
  const std::int64_t row = lists.rows[entry];
  const int count = lists.count[row], place = lists.place[row];
  float sum[kTiles][kWidth] = {};
  if (count <= kSegment) {
    const int* const tokens = sorted[warp];
    sort_tokens(lists.tokens + place - count, count, unsorted[warp], sorted[warp]);
    const auto dy = [&](int i) { return static_cast<const T*>(args.dy) + tokens[i] * args.width; };
    add_rows<kTiles, kBatch, T, kWidth>(sum, count, column, kStride, args.width, dy);
  } else {
    const auto segment = [&](int i) { return args.segment_sums + (std::int64_t{place} + i) * args.width; };
    add_rows<kTiles, kBatch, float, kWidth>(sum, (count + kSegment - 1) / kSegment, column, kStride, args.width,
                                            segment);
  }
  W* const dweight = static_cast<W*>(args.dweight) + row * args.width + column;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    if (column + tile * kStride >= args.width) break;
    Pack<W, kWidth> pack{};
    if (args.accumulate) pack = load_pack<kWidth>(dweight + tile * kStride);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      store(pack.element[e], args.accumulate ? sum[tile][e] + load(pack.element[e]) : sum[tile][e]);
    }
    store_pack(dweight + tile * kStride, pack);
  }
}

unsigned blocks_for(std::int64_t threads) { return static_cast<unsigned>((threads + kThreads - 1) / kThreads); }

template <typename T, typename W, int kWidth>
void launch(const EmbeddingBackwardArgs& args, const Lists& lists, CUstream_st* stream) {
  if (!args.accumulate) {
    zero_kernel<W, kWidth><<<blocks_for(args.vocab_size * kWarp), kThreads, 0, stream>>>(args, lists);
  }
  if (const std::int64_t segments = embedding_segments(args.tokens); segments > 0) {
    segment_kernel<T, kWidth><<<static_cast<unsigned>(segments), kThreads, 0, stream>>>(args, lists);
  }
  if (const std::int64_t rows = std::min(args.tokens, args.vocab_size); rows > 0) {
    const std::int64_t slices = (args.width + slice_columns(kWidth) - 1) / slice_columns(kWidth);
    row_kernel<T, W, kWidth>
        <<<blocks_for(rows * slices * kWarp), kThreads, 0, stream>>>(args, lists, static_cast<int>(slices));
  }
}

template <typename T, typename W>
void launch(const EmbeddingBackwardArgs& args, const Lists& lists, CUstream_st* stream) {
  constexpr int kWidth = Vector<W>::kWidth;  // adjacent 16-byte stores fill whole sectors
  if (args.width % kWidth == 0 && aligned_all(args.dy, args.dweight, args.segment_sums)) {
    launch<T, W, kWidth>(args, lists, stream);
  } else {
    launch<T, W, 1>(args, lists, stream);
  }
}

}  // namespace

int embedding_backward_cuda(const EmbeddingBackwardArgs& args, CUstream_st* stream) {
  if (args.vocab_size == 0 || args.width == 0) return cudaSuccess;
  const Lists lists = lists_of(args);
  const auto zeroed = static_cast<std::size_t>(3 + args.vocab_size) * sizeof(std::int32_t);  // totals and counts
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
