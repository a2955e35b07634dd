// Counts numbers by the exponent of their magnitude; the host never waits.
#pragma once

#include <ATen/ATen.h>

#include "kernels/adamw/adamw_ops.h"
#include "kernels/exponent_counts/exponent_counts.h"

namespace headroom::kernels {

// Adds to `counts` (int64 [257], see kExponentBins) how many numbers x · factor, rounded to fp32, have each exponent. x
// is contiguous, fp32, bf16 or fp16; factor is fp32 [], optional. One launch; on meta only checks. Throws c10::Error if
// tensors do not fit.
void count_exponents_(const at::Tensor& counts, const at::Tensor& x, const at::Tensor& factor = {});

// A weight before and after an AdamW step, and its moments after the step (fp32 or bf16): contiguous, of one shape and
// device.
struct AdamWChange {
  at::Tensor before, after, first_moment, second_moment;
  bool decays = true;
};

// Adds to `updates` (int64 [257]) the changes that the step wanted to make, and to `lost` the nonzero changes lost to
// rounding. A step that overflowed is not counted. Otherwise like count_exponents_().
void count_updates_(const at::Tensor& updates, const at::Tensor& lost, const AdamWChange& change, const AdamWStep& step,
                    const AdamWControl& control = {});

}  // namespace headroom::kernels
