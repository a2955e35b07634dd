// Errors of 8-bit moments, measured by the demo `moments`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"

namespace headroom::lessons {

// One 8-bit format of a moment.
struct MomentWay {
  bool dynamic = false;    // levels are denser towards zero; else even
  std::int64_t block = 0;  // numbers per scale
  const record::Histogram* errors = nullptr;

  std::string label() const;  // "dynamic levels, blocks of 256"
};

// The latest result per format of "first_moment" or "second_moment", in order of measurement.
std::vector<MomentWay> moment_ways(const record::Recording& recording, std::string_view moment);

// Mean error of nonzero numbers, in percent; negative if there are none.
double mean_error(const record::Histogram& histogram);

// The mean error of one format; negative if not measured.
double error_of(const std::vector<MomentWay>& ways, bool dynamic, std::int64_t block);
double second_moment_error(const record::Recording& recording, bool dynamic, std::int64_t block);

}  // namespace headroom::lessons
