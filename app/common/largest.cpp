// Finds a border by secant steps and bisection.
#include "app/common/largest.h"

#include <algorithm>
#include <cmath>

namespace headroom::app {

namespace {

struct Answer {
  std::int64_t value = 0;
  record::Bytes bytes = 0;
};

// The value at which the line through two answers reaches `limit`; `high` if it does not rise.
std::int64_t crossing(const Answer& a, const Answer& b, record::Bytes limit, std::int64_t high) {
  const double rise = static_cast<double>(b.bytes - a.bytes) / static_cast<double>(b.value - a.value);
  if (!(rise > 0)) return high;
  const double at = static_cast<double>(b.value) + static_cast<double>(limit - b.bytes) / rise;
  return at >= static_cast<double>(high) ? high : static_cast<std::int64_t>(std::floor(at));
}

}  // namespace

std::optional<std::int64_t> largest_that_fits(std::int64_t low, std::int64_t high, record::Bytes limit,
                                              const std::function<std::optional<Needed>(std::int64_t)>& needed) {
  constexpr int kHalving = 4;  // every fourth query halves the range, in case bytes do not grow linearly
  std::int64_t fits = low - 1, fails = high + 1;
  std::optional<Answer> last, before;
  for (int question = 0; fits + 1 < fails; ++question) {
    std::int64_t next = question == 0 ? low : std::min(high, 2 * low);
    if (before && question % kHalving != 0)
      next = crossing(*before, *last, limit, high);
    else if (before)
      next = fits + (fails - fits) / 2;
    next = std::clamp(next, fits + 1, fails - 1);
    const std::optional<Needed> answer = needed(next);
    if (!answer) return std::nullopt;
    (answer->fits ? fits : fails) = next;
    before = last;
    last = Answer{next, answer->bytes};
  }
  return fits;
}

}  // namespace headroom::app
