// Numbers counted by magnitude, such as a step's gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "demos/record/units.h"

namespace headroom::record {

struct Histogram {
  std::string name;       // "gradients", "updates.lost", "first_moment.dynamic.256"
  std::int32_t step = 0;  // counted after this step
  // counts[i]: magnitudes in [2^(low_exponent + i), 2^(low_exponent + i + 1)).
  std::int32_t low_exponent = 0;
  std::vector<std::int64_t> counts;
  std::int64_t zeros = 0, not_finite = 0;
  // Mean relative error of the numbers in counts[i], 0 without numbers. Empty: not measured.
  std::vector<double> errors;

  bool operator==(const Histogram&) const = default;
};

// fp64 has exponents from −1074 to 1023.
inline constexpr std::size_t kMostBins = 2'098;
inline constexpr std::int32_t kLowestExponent = -1'074, kHighestExponent = 1'023;

template <class Io>
void fields(Io& io, Histogram& h) {
  // Numbers in these files are not negative, so the exponent is stored relative to the lowest one.
  std::int32_t above_lowest = h.low_exponent - kLowestExponent;
  io.text("name", h.name);
  io.whole("step", h.step, kMostSteps);
  io.whole("low_exponent", above_lowest, kHighestExponent - kLowestExponent);
  io.numbers("counts", h.counts, kMostBins, static_cast<double>(kMostBytes));
  io.whole("zeros", h.zeros, kMostBytes);
  io.whole("not_finite", h.not_finite, kMostBytes);
  io.numbers("errors", h.errors, kMostBins, std::numeric_limits<double>::max());
  h.low_exponent = above_lowest + kLowestExponent;
  const auto bins = static_cast<std::int64_t>(h.counts.size());
  io.check(h.low_exponent + bins - 1 <= kHighestExponent, "the highest bin");
  io.check(h.errors.empty() || h.errors.size() == h.counts.size(), "the number of errors");
}

}  // namespace headroom::record
