// How many of some numbers have which magnitude: the gradients of a step, the updates that rounding swallowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom::record {

struct Histogram {
  std::string name;       // "gradients", "updates", "updates.lost", "first_moment.dynamic.256"
  std::int32_t step = 0;  // after which step the numbers were looked at
  // counts[i]: numbers whose magnitude is in [2^(low_exponent + i), 2^(low_exponent + i + 1)).
  std::int32_t low_exponent = 0;
  std::vector<std::int64_t> counts;
  std::int64_t zeros = 0, not_finite = 0;
  // Mean relative error of the numbers behind counts[i] (0 where there are none); empty where none was measured.
  std::vector<double> errors;

  bool operator==(const Histogram&) const = default;
};

// fp64 has exponents from −1074 to 1023.
inline constexpr std::size_t kMostBins = 2'098;
inline constexpr std::int32_t kLowestExponent = -1'074, kHighestExponent = 1'023;

// Counts are not negative, and errors, where there are any, one a bin and finite.
bool can_be(const Histogram& histogram);

}  // namespace headroom::record
