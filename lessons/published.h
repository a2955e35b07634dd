// Numbers that others published, beside which figures set their own. The rows are those of assets/published, compiled
// in, so that figures stay pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::lessons {

// One point of the Liger paper's kernel benchmarks: assets/published/liger_a100.csv tells hardware, shapes, exactness.
struct PublishedKernel {
  std::string_view panel;           // as in `headroom list`: "rms_norm"
  std::string_view implementation;  // "huggingface", "liger"
  std::int64_t x;                   // vocabulary, tokens a sequence, or hidden size
  double milliseconds;              // forward and backward, median of ten
  record::Bytes peak;               // allocated, inputs and weights included
};

std::span<const PublishedKernel> published_kernels();

}  // namespace headroom::lessons
