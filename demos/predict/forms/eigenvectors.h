// Bytes of torch.linalg.eigh's work arrays for a symmetric fp32 matrix [n, n].
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "demos/record/units.h"

namespace headroom::predict {

// LAPACK's syevd on the CPU: 3 + 5n integers and 1 + 6n + 2n² numbers. PyTorch stores the count of numbers in fp32 and
// rounds it up.
inline record::Bytes lapack_work(std::int64_t n) {
  const auto numbers = static_cast<float>(n == 1 ? 1 : 1 + 6 * n + 2 * n * n);
  return 4 * static_cast<std::int64_t>(std::ceil(std::nextafter(numbers, std::numeric_limits<float>::infinity())));
}
constexpr record::Bytes lapack_integers(std::int64_t n) { return 4 * (n == 1 ? 1 : 3 + 5 * n); }

// cuSOLVER on an H200 (CUDA 13.0), as recorded, in bytes. syevd, for n from 513: 16n² + 508n + 131,980, recorded at
// 1,024, 1,536, 2,048, 3,712 and 3,968. syevj, for n up to 512: 86,800 at 128 and 1,124,416 at 512; for other n, 4n²
// plus a linear term. cuSOLVER has no integer array.
constexpr record::Bytes cusolver_work(std::int64_t n) {
  constexpr std::int64_t kMostOfJacobi = 512;  // aten/src/ATen/native/cuda/linalg/BatchLinearAlgebraLib.cpp
  return n > kMostOfJacobi ? 16 * n * n + 508 * n + 131'980 : 4 * n * n + 1137 * n / 8 + 3072;
}

}  // namespace headroom::predict
