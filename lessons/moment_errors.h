// What the demo `moments` measured: how far moments are off when they are kept in 8 bits, for each way to do so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"

namespace headroom::lessons {

// One way to keep a moment in 8 bits.
struct MomentWay {
  bool dynamic = false;    // levels denser towards zero; else spaced evenly
  std::int64_t block = 0;  // numbers that share a scale
  const record::Histogram* errors = nullptr;

  std::string label() const;  // "dynamic levels, blocks of 256"
};

// Of "first_moment" or "second_moment", each way as it was looked at last; in the order in which they were measured.
std::vector<MomentWay> moment_ways(const record::Recording& recording, std::string_view moment);

// Mean error of all numbers but zeros, in percent of the number; negative: there are none.
double mean_error(const record::Histogram& histogram);

// For one way of the second moment; negative: it was not measured.
double second_moment_error(const record::Recording& recording, bool dynamic, std::int64_t block);

}  // namespace headroom::lessons
