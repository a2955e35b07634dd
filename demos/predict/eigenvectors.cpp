// Computes the sizes.
#include "demos/predict/eigenvectors.h"

#include <cmath>
#include <limits>

namespace headroom::predict {

using record::Bytes;

namespace {

constexpr Bytes kNumber = 4;  // fp32 or integer

}  // namespace

Bytes lapack_work(std::int64_t n) {
  const float told =
      std::nextafter(static_cast<float>(n == 1 ? 1 : 1 + 6 * n + 2 * n * n), std::numeric_limits<float>::infinity());
  return kNumber * static_cast<std::int64_t>(std::ceil(told));
}

Bytes lapack_integers(std::int64_t n) { return kNumber * (n == 1 ? 1 : 3 + 5 * n); }

Bytes cusolver_work(std::int64_t n) {
  constexpr std::int64_t kMostOfJacobi = 512;  // aten/src/ATen/native/cuda/linalg/BatchLinearAlgebraLib.cpp
  if (n > kMostOfJacobi) return 16 * n * n + 508 * n + 131'980;
  return 4 * n * n + 1137 * n / 8 + 3072;
}

}  // namespace headroom::predict
