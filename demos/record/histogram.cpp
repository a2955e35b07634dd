// What a histogram must be to be one.
#include "demos/record/histogram.h"

#include <algorithm>
#include <cmath>

namespace headroom::record {

bool can_be(const Histogram& h) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  const auto is_count = [](std::int64_t count) { return count >= 0 && count <= kMost; };
  const auto is_error = [](double error) { return error >= 0 && std::isfinite(error); };
  const auto bins = static_cast<std::int64_t>(h.counts.size());
  return h.step >= 0 && h.low_exponent >= kLowestExponent && h.low_exponent + bins - 1 <= kHighestExponent &&
         std::ranges::all_of(h.counts, is_count) && is_count(h.zeros) && is_count(h.not_finite) &&
         (h.errors.empty() || h.errors.size() == h.counts.size()) && std::ranges::all_of(h.errors, is_error);
}

}  // namespace headroom::record
