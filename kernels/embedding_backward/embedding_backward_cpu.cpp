// The embedding gradient on the CPU: a counting sort of the tokens, zeros, then sums by row in fp32.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/common/storage_cpu.h"
#include "kernels/embedding_backward/embedding_backward.h"

namespace headroom::kernels {

namespace {

// The tokens of row v are tokens[ends[v − 1]] … tokens[ends[v] − 1].
struct Lists {
  std::int32_t* ends;    // [V]
  std::int32_t* tokens;  // [N]
};

Lists lists_of(const EmbeddingBackwardArgs& args) { return {args.integers, args.integers + args.vocab_size}; }

constexpr std::int64_t kStripe = 512;  // columns summed at a time: 2 KiB of fp32

template <typename T, typename W>
HEADROOM_INLINE void sum_row(const EmbeddingBackwardArgs& args, std::int64_t row, const std::int32_t* tokens,
                             std::int64_t count, std::int64_t begin, std::int64_t end) {
  const T* const dy = static_cast<const T*>(args.dy);
  W* const __restrict dweight = static_cast<W*>(args.dweight) + row * args.width + begin;
  const std::int64_t columns = end - begin;
  std::array<float, kStripe> sum;
  std::fill_n(sum.begin(), columns, 0.0f);
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const __restrict token = dy + tokens[i] * args.width + begin;
    for (std::int64_t c = 0; c < columns; ++c) sum[static_cast<std::size_t>(c)] += load(token[c]);
  }
  if (args.accumulate) {
    for (std::int64_t c = 0; c < columns; ++c) store(dweight[c], load(dweight[c]) + sum[static_cast<std::size_t>(c)]);
  } else {
    for (std::int64_t c = 0; c < columns; ++c) store(dweight[c], sum[static_cast<std::size_t>(c)]);
  }
}

template <typename T, typename W>
HEADROOM_INLINE void sum_columns(const EmbeddingBackwardArgs& args, std::int64_t begin, std::int64_t end) {
  const Lists lists = lists_of(args);
  std::int64_t first = 0;
  for (std::int64_t row = 0; row < args.vocab_size; ++row) {
    const std::int64_t count = lists.ends[row] - first;
    for (std::int64_t c = begin; c < end && count > 0; c += kStripe) {
      sum_row<T, W>(args, row, lists.tokens + first, count, c, std::min(c + kStripe, end));
    }
    first = lists.ends[row];
  }
}

}  // namespace

void embedding_backward_sort_cpu(const EmbeddingBackwardArgs& args) {
  const Lists lists = lists_of(args);
  std::fill_n(lists.ends, args.vocab_size, 0);
  for (std::int64_t n = 0; n < args.tokens; ++n) ++lists.ends[args.ids[n]];
  std::int32_t begin = 0;
  for (std::int64_t row = 0; row < args.vocab_size; ++row) {
    const std::int32_t count = lists.ends[row];
    lists.ends[row] = begin;  // the list's begin; filling the list moves it to the end
    begin += count;
  }
  for (std::int64_t n = 0; n < args.tokens; ++n) {
    lists.tokens[lists.ends[args.ids[n]]++] = static_cast<std::int32_t>(n);
  }
}

void embedding_backward_zero_cpu(const EmbeddingBackwardArgs& args, std::int64_t begin, std::int64_t end) {
  if (args.accumulate) return;
  const Lists lists = lists_of(args);
  const auto row_bytes = static_cast<std::size_t>(args.width * bytes_of(args.table));
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int32_t first = row == 0 ? 0 : lists.ends[row - 1];
    if (lists.ends[row] > first) continue;
    std::memset(static_cast<std::byte*>(args.dweight) + static_cast<std::size_t>(row) * row_bytes, 0, row_bytes);
  }
}

HEADROOM_VECTOR_TARGETS void embedding_backward_cpu(const EmbeddingBackwardArgs& args, std::int64_t begin,
                                                    std::int64_t end) {
  with_storage(args.gradient, [&](auto type) HEADROOM_INLINED {
    using T = decltype(type);
    args.table == args.gradient ? sum_columns<T, T>(args, begin, end) : sum_columns<T, float>(args, begin, end);
  });
}

}  // namespace headroom::kernels
