// Ignored rows, and gradients of unaligned rows, in the cross entropy kernels.
#pragma once

#include <cstdint>

#include "kernels/common/storage.cuh"
#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/cross_entropy/softmax.cuh"

namespace headroom::kernels {

// True if the row must be computed. Otherwise (an ignored row, or a target outside the vocabulary) writes its loss.
template <typename T>
__device__ __forceinline__ bool row_counts(const CrossEntropyArgs& args, std::int64_t row, std::int64_t target,
                                           bool writes_loss) {
  const bool ignored = target == args.ignore_index;
  if (!ignored && target >= 0 && target < args.vocab) return true;
  if (writes_loss && threadIdx.x == 0) {
    args.loss[row] = ignored ? 0.0f : NAN;
    if (!ignored && args.error_flag != nullptr) {
      atomicMax(reinterpret_cast<long long*>(args.error_flag), static_cast<long long>(row + 1));
    }
  }
  return false;
}

template <typename T>
__device__ __forceinline__ void zero_row(const CrossEntropyArgs& args, std::int64_t row, std::int64_t part,
                                         std::int64_t parts) {
  if (args.dlogits == nullptr) return;
  T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
  const RowPlan plan = plan_row(out, args.vocab);
  Vector<T> zeros;
#pragma unroll
  for (int j = 0; j < Vector<T>::kWidth; ++j) store(zeros.element[j], 0.0f);
  for (std::int64_t i = part; i < plan.vectors; i += parts) {
    store_streaming(reinterpret_cast<Vector<T>*>(out + plan.head) + i, zeros);
  }
  if (part < plan.head + plan.tail) store(out[plan.single_column(part)], 0.0f);
}

// `aligned`: the gradient's row is aligned like the logits' row. If not (a view), stores single elements.
template <typename T>
__device__ __forceinline__ void put_vector(T* place, const RowVector<T>& vector, bool aligned) {
  if (aligned) {
    vector.store_streaming(place);
    return;
  }
  float x[RowVector<T>::kWidth];
  vector.unpack(x);
#pragma unroll
  for (int j = 0; j < RowVector<T>::kWidth; ++j) store(place[j], x[j]);
}

template <typename T>
__device__ __forceinline__ bool same_alignment(const T* a, const T* b) {
  return reinterpret_cast<std::uintptr_t>(a) % kVectorBytes == reinterpret_cast<std::uintptr_t>(b) % kVectorBytes;
}

}  // namespace headroom::kernels
