// The report's step at batches around the largest that fit: the rows of assets/predicted/borders.csv, compiled in.
#pragma once

#include <cstdint>
#include <span>

#include "demos/record/units.h"

namespace headroom::lessons {

struct PredictedStep {
  bool expandable;  // the setting `expandable_segments`
  std::int64_t batch;
  record::Bytes blocks;  // the most, without a limit
  record::Bytes asked;   // by the request that failed under the report's limit; 0: none did
  record::Bytes free;    // of the limit not in blocks then
};

std::span<const PredictedStep> predicted_steps();

}  // namespace headroom::lessons
