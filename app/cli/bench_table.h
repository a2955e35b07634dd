// What `headroom bench` prints: every measured time beside the copy, the eager composition and the yardstick.
#pragma once

#include <string>

#include "demos/record/recording.h"

namespace headroom::app {

// A measurement and the others of its shape in the same run; negative: not known.
struct BenchRow {
  double bytes_per_second = -1;
  double part_of_copy = -1;  // 1: as fast as a copy of as many bytes
  double over_eager = -1;    // 2: twice as fast as the eager composition
  double to_products = -1;   // FLCE: time as a multiple of the three whole products'
};
BenchRow bench_row(const record::Recording& recording, const record::Measurement& row);

// A head per panel and a line per form, with the main timing, and the other timings behind it.
std::string bench_table(const record::Recording& recording);

}  // namespace headroom::app
