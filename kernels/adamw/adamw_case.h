// Shared by the cases of the AdamW family. Included only by *_case.cpp.
#pragma once

#include "kernels/adamw/adamw_ops.h"
#include "kernels/kernel_case.h"

namespace headroom::kernels::adamw_case {

inline constexpr double kRate = 1e-3, kBeta1 = 0.9, kBeta2 = 0.95, kEpsilon = 1e-8, kDecay = 0.1;
inline constexpr double kCorrection1 = 1 - kBeta1, kCorrection2 = 1 - kBeta2;  // at the first step

inline constexpr Shape kOddShapes[] = {{1, 1}, {1, 7}, {1, 8}, {1, 255}, {1, 257}, {1, 4096}, {1, 100'003}};

inline AdamWStep first_step() { return adamw_step_constants(kRate, kBeta1, kBeta2, kEpsilon, kDecay, 1); }

inline KernelInputs inputs(const Shape& shape, const TensorMaker& make) {
  const at::Tensor start = make.random({shape.width});
  return {.inputs = {start, make.random({shape.width})}};
}

}  // namespace headroom::kernels::adamw_case
