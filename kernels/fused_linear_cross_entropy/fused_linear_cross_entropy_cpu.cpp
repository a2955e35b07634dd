// A slice's part of each row's softmax, and its gradient, on the CPU.

#include "kernels/cross_entropy/softmax_cpu.h"
#include "kernels/fused_linear_cross_entropy/parts.h"

namespace headroom::kernels {

namespace {

bool in_vocabulary(const FlceSlice& slice, std::int64_t target) {
  return target != slice.ignore_index && target >= 0 && target < slice.vocab;
}

template <typename T>
HEADROOM_INLINE void add_parts(const FlceSlice& slice, std::int64_t row) {
  const std::int64_t target = slice.targets[row], rows = slice.rows;
  if (!in_vocabulary(slice, target)) return;
  const T* const in = static_cast<const T*>(slice.logits) + row * slice.stride;
  float* const mine = slice.parts + row;
  RowSums sums;
  if (slice.first > 0) sums = {.max = mine[0], .sum = mine[rows], .total = mine[2 * rows]};
  add_columns(sums, in, slice.columns);
  mine[0] = sums.max;
  mine[rows] = static_cast<float>(sums.sum);
  mine[2 * rows] = static_cast<float>(sums.total);
  const std::int64_t column = target - slice.first;
  if (column >= 0 && column < slice.columns) mine[3 * rows] = load(in[column]);
}

template <typename T>
HEADROOM_INLINE void to_gradient(const FlceSlice& slice, float scale, std::int64_t row) {
  const std::int64_t target = slice.targets[row];
  T* const data = static_cast<T*>(slice.logits) + row * slice.stride;
  if (!in_vocabulary(slice, target)) {
    std::fill(data, data + slice.columns, T{});
    return;
  }
  const float max = slice.parts[row], factor = scale / slice.parts[slice.rows + row];
  const float everywhere = scale * slice.label_smoothing / static_cast<float>(slice.vocab);
  const std::int64_t column = target - slice.first;
  const bool here = column >= 0 && column < slice.columns;
  const float target_logit = here ? load(data[column]) : 0.0f;
  write_gradient(data, data, slice.columns, max, factor, everywhere);
  if (!here) return;
  store(data[column], exponential(target_logit - max) * factor - everywhere - scale * (1 - slice.label_smoothing));
}

}  // namespace

HEADROOM_VECTOR_TARGETS void flce_slice_parts_cpu(const FlceSlice& slice, std::int64_t begin, std::int64_t end) {
  with_storage(slice.storage, [&](auto type) HEADROOM_INLINED {
    for (std::int64_t row = begin; row < end; ++row) add_parts<decltype(type)>(slice, row);
  });
}

void flce_slice_loss_cpu(const FlceSlice& slice, float* loss) {
  for (std::int64_t row = 0; row < slice.rows; ++row) {
    const float* const mine = slice.parts + row;
    const RowSums sums = {.max = mine[0], .sum = mine[slice.rows], .total = mine[2 * slice.rows]};
    const bool counts = in_vocabulary(slice, slice.targets[row]);
    loss[row] = counts ? loss_of(sums, mine[3 * slice.rows], slice.label_smoothing, slice.vocab) : 0.0f;
  }
}

HEADROOM_VECTOR_TARGETS void flce_slice_gradient_cpu(const FlceSlice& slice, float scale, std::int64_t begin,
                                                     std::int64_t end) {
  with_storage(slice.storage, [&](auto type) HEADROOM_INLINED {
    for (std::int64_t row = begin; row < end; ++row) to_gradient<decltype(type)>(slice, scale, row);
  });
}

}  // namespace headroom::kernels
