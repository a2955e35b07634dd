// The row norms on the CPU: loops over one row, which stays in the cache.
#pragma once

#include <cmath>

#include "kernels/common/storage_cpu.h"
#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels::row_norm {

// `omp simd` lets the compiler split a sum over lanes, and ignore that dx may be dy.

template <typename T, NormKind kKind>
HEADROOM_INLINE void forward_row(const NormForward& norm, std::int64_t row) {
  const std::int64_t width = norm.width;
  const T* x = static_cast<const T*>(norm.x) + row * width;
  const T* weight = static_cast<const T*>(norm.weight);
  T* y = static_cast<T*>(norm.y) + row * width;
  if constexpr (kKind == NormKind::kAddRms) {
    const T* residual = static_cast<const T*>(norm.residual) + row * width;
    T* sum = static_cast<T*>(norm.sum) + row * width;
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) store(sum[i], load(x[i]) + load(residual[i]));
    x = sum;
  }
  float mean = 0, rstd = 0;
  if constexpr (kKind == NormKind::kRebuildRms) {
    rstd = norm.rstd[row];
  } else {
    if constexpr (kKind == NormKind::kLayer) {
      float total = 0;
#pragma omp simd reduction(+ : total)
      for (std::int64_t i = 0; i < width; ++i) total += load(x[i]);
      mean = total / static_cast<float>(width);
      norm.mean[row] = mean;
    }
    float square = 0;
#pragma omp simd reduction(+ : square)
    for (std::int64_t i = 0; i < width; ++i) {
      const float centred = load(x[i]) - mean;
      square += centred * centred;
    }
    rstd = 1 / std::sqrt(square / static_cast<float>(width) + norm.epsilon);
    norm.rstd[row] = rstd;
  }
  if constexpr (kKind == NormKind::kLayer) {
    const T* bias = static_cast<const T*>(norm.bias);
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
      store(y[i], (load(x[i]) - mean) * rstd * load(weight[i]) + load(bias[i]));
    }
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) store(y[i], load(x[i]) * rstd * load(weight[i]));
  }
}

// The formula is in row_norm_backward.cuh.
template <typename T, bool kMean>
HEADROOM_INLINE void backward_row(const NormBackward& norm, std::int64_t row, float* dweight, float* dbias) {
  const std::int64_t width = norm.width;
  const T* dy = static_cast<const T*>(norm.dy) + row * width;
  const T* x = static_cast<const T*>(norm.x) + row * width;
  const T* weight = static_cast<const T*>(norm.weight);
  T* dx = static_cast<T*>(norm.dx) + row * width;
  const float rstd = norm.rstd[row];
  const float mean = kMean ? norm.mean[row] : 0.0f;
  float along = 0, level = 0;
#pragma omp simd reduction(+ : along, level)
  for (std::int64_t i = 0; i < width; ++i) {
    const float normal = (load(x[i]) - mean) * rstd;
    const float upstream = load(dy[i]);
    const float g = upstream * load(weight[i]);
    along += g * normal;
    dweight[i] += upstream * normal;
    if constexpr (kMean) {
      level += g;
      dbias[i] += upstream;
    }
  }
  along /= static_cast<float>(width);
  level /= static_cast<float>(width);
  const auto slope = [&](std::int64_t i) __attribute__((always_inline)) {
    const float normal = (load(x[i]) - mean) * rstd;
    return rstd * (load(dy[i]) * load(weight[i]) - level - normal * along);
  };
  if (norm.d_sum == nullptr) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) store(dx[i], slope(i));
  } else {
    const T* d_sum = static_cast<const T*>(norm.d_sum) + row * width;
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) store(dx[i], slope(i) + load(d_sum[i]));
  }
}

template <typename T, bool kMean>
HEADROOM_INLINE void rows_backward(const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  float* const dweight = norm.dweight_partials + part * norm.width;
  float* const dbias = kMean ? norm.dbias_partials + part * norm.width : nullptr;
  for (std::int64_t i = 0; i < norm.width; ++i) {
    dweight[i] = 0;
    if constexpr (kMean) dbias[i] = 0;
  }
  // Parts never outnumber rows, so none is empty.
  for (std::int64_t row = norm.rows * part / parts; row < norm.rows * (part + 1) / parts; ++row) {
    backward_row<T, kMean>(norm, row, dweight, dbias);
  }
}

// Called only by functions with HEADROOM_VECTOR_TARGETS.
template <NormKind kKind>
HEADROOM_INLINE void forward_rows(const NormForward& norm, std::int64_t begin, std::int64_t end) {
  with_storage(norm.storage, [&](auto type) HEADROOM_INLINED {
    for (std::int64_t row = begin; row < end; ++row) forward_row<decltype(type), kKind>(norm, row);
  });
}
template <bool kMean>
HEADROOM_INLINE void backward_rows(const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  with_storage(norm.storage,
               [&](auto type) HEADROOM_INLINED { rows_backward<decltype(type), kMean>(norm, part, parts); });
}

}  // namespace headroom::kernels::row_norm
