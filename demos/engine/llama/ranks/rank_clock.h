// One clock for ranks on several hosts, whose monotonic clocks differ.
#pragma once

#include <functional>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "demos/record/units.h"

namespace headroom::llama {

struct ClockDifference {
  record::Nanoseconds ahead = 0;        // of the first rank's clock; add it to this rank's times
  record::Nanoseconds uncertainty = 0;  // in both directions
};

// Asks the first rank for its time 20 times and uses the answer that came back first (Cristian 1989). All ranks call it;
// the first rank answers one after the other. `now` reads this rank's clock. Throws c10d's errors.
ClockDifference measure_clock(c10d::Store& store, int rank, int ranks, const std::function<record::Nanoseconds()>& now);

}  // namespace headroom::llama
