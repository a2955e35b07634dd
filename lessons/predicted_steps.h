// The report's step at batches around the largest that fits: rows of assets/predicted/borders.csv, compiled in.
#pragma once

#include <cstdint>
#include <span>

#include "demos/record/units.h"

namespace headroom::lessons {

struct PredictedStep {
  bool expandable;  // `expandable_segments`
  std::int64_t batch;
  record::Bytes blocks;  // peak without a limit
  record::Bytes asked;   // failed request under the report's limit; 0: none
  record::Bytes free;    // limit not in blocks then
};

std::span<const PredictedStep> predicted_steps();

}  // namespace headroom::lessons
