// Quantiles with linear interpolation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace headroom::record {

// The value below which `share` of the values lie. `sorted` must not be empty.
inline double quantile(const std::vector<double>& sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (rank - static_cast<double>(below));
}

struct Quantiles {
  double low = 0, median = 0, high = 0;  // quantiles 0.2, 0.5 and 0.8
  std::size_t samples = 0;
};

// All 0 without values.
inline Quantiles quantiles_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.2), quantile(values, 0.5), quantile(values, 0.8), values.size()};
}

}  // namespace headroom::record
