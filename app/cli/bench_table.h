// The table of `headroom bench`: each time next to the copy, the eager composition and the yardstick.
#pragma once

#include <string>

#include "demos/record/recording.h"

namespace headroom::app {

// A measurement relative to others of its shape and run; negative if unknown.
struct BenchRow {
  double bytes_per_second = -1;
  double part_of_copy = -1;  // 1: as fast as copying as many bytes
  double over_eager = -1;    // 2: twice as fast as eager
  double to_products = -1;   // FLCE: time relative to its three full GEMMs
};
BenchRow bench_row(const record::Recording& recording, const record::Measurement& row);

// One head per panel and one line per form, with the main timing first.
std::string bench_table(const record::Recording& recording);

}  // namespace headroom::app
