// The largest batch or sequence that fits, found with few questions.
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

// Of low … high; low − 1: not even that fits. What fits is taken to fit with less, too. `needed` answers for one value;
// nothing where it cannot, and then nothing is found. The next question is where the line through the last two answers
// meets `limit`: bytes grow almost in proportion, so that five questions are usual.
std::optional<std::int64_t> largest_that_fits(std::int64_t low, std::int64_t high, record::Bytes limit,
                                              const std::function<std::optional<Needed>(std::int64_t)>& needed);

}  // namespace headroom::app
