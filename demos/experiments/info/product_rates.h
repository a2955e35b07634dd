// The GEMMs that `product_rates` times.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::experiments {

// y [N, N] = x [N, N] Wᵀ, with N = side.
struct ProductRateCase {
  std::string_view format;  // "fp32", "tf32", "bf16", "fp16", "fp8"
  std::int64_t side = 0;    // a multiple of 16
};

// Format by format, smallest first. Empty if `largest` is below 16.
std::vector<ProductRateCase> product_rate_cases(const record::Params& params, record::DeviceKind device);

}  // namespace headroom::experiments
