// Gradients of weight and bias from their partial sums, on the CPU.
#include "kernels/row_norm/row_norm_cpu.h"

namespace headroom::kernels {

namespace {

// Adds up the rows of a strip of columns, which stays in the cache.
void sum_strip(const float* partials, std::int64_t parts, std::int64_t width, float* strip, std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; ++i) strip[i] = partials[i];
  for (std::int64_t part = 1; part < parts; ++part) {
    for (std::int64_t i = 0; i < columns; ++i) strip[i] += partials[part * width + i];
  }
}

template <typename T>
void sum_columns(const float* partials, std::int64_t parts, std::int64_t width, T* out, std::int64_t begin,
                 std::int64_t end) {
  constexpr std::int64_t kStrip = 1024;
  float strip[kStrip];
  for (std::int64_t column = begin; column < end; column += kStrip) {
    const std::int64_t columns = std::min(kStrip, end - column);
    sum_strip(partials + column, parts, width, strip, columns);
    for (std::int64_t i = 0; i < columns; ++i) store(out[column + i], strip[i]);
  }
}

}  // namespace

void column_sums_cpu(const NormBackward& norm, std::int64_t parts, std::int64_t begin, std::int64_t end) {
  with_storage(norm.storage, [&](auto type) {
    using T = decltype(type);
    sum_columns(norm.dweight_partials, parts, norm.width, static_cast<T*>(norm.dweight), begin, end);
    if (norm.dbias == nullptr) return;
    sum_columns(norm.dbias_partials, parts, norm.width, static_cast<T*>(norm.dbias), begin, end);
  });
}

}  // namespace headroom::kernels
