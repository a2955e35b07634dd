// Counts numbers by the exponent of their magnitude where they are, without the host ever waiting for an answer.
#pragma once

#include <ATen/ATen.h>

#include "kernels/adamw/adamw_ops.h"
#include "kernels/exponent_counts/exponent_counts.h"

namespace headroom::kernels {

// Adds to `counts` (int64 [257], see kExponentBins) how many of x · factor, rounded to fp32, have each exponent. x is
// contiguous, fp32, bf16 or fp16; factor fp32 [], undefined: 1; all on one device. One launch; allocates nothing; on
// meta it only checks. Throws c10::Error if they do not fit.
void count_exponents_(const at::Tensor& counts, const at::Tensor& x, const at::Tensor& factor = {});

// A weight around an AdamW step, and its moments behind it (fp32 or bf16): contiguous, same shape, same device.
struct AdamWChange {
  at::Tensor before, after, first_moment, second_moment;
  bool decays = true;
};

// Adds to `updates` (int64 [257]) the changes that the step wanted to make, and to `lost` those of them that are not
// zero but left the weight as it was, being too small for its type. `step` and `control` are those of the step; of one
// that overflowed nothing is counted. The same promises as above.
void count_updates_(const at::Tensor& updates, const at::Tensor& lost, const AdamWChange& change, const AdamWStep& step,
                    const AdamWControl& control = {});

}  // namespace headroom::kernels
