// Finds the largest batch or sequence that fits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "demos/record/units.h"

namespace headroom::app {

struct Needed {
  record::Bytes bytes = 0;
  bool fits = false;
};

// Searches low … high; returns low − 1 if nothing fits. Assumes that smaller values also fit. If `needed` cannot
// answer, neither can the search. Each query is at the value where the line through the last two answers meets `limit`.
// Bytes grow almost linearly, so five queries are typical.
std::optional<std::int64_t> largest_that_fits(std::int64_t low, std::int64_t high, record::Bytes limit,
                                              const std::function<std::optional<Needed>(std::int64_t)>& needed);

}  // namespace headroom::app
