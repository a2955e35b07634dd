// The report's step at batches around the largest that fit: the rows of assets/predicted/borders.csv, which says how they are
// made, compiled in.
#pragma once

#include <cstdint>
#include <span>

#include "demos/record/units.h"

namespace headroom::lessons {

struct PredictedStep {
  bool expandable;  // the setting `expandable_segments`
  std::int64_t batch;
  record::Bytes blocks;       // the most, without a limit
  record::Bytes reserved;     // the most, under the report's limit
  record::Bytes asked;        // by the request that failed; 0: none did
  record::Bytes free, piece;  // then: of the limit not in blocks, and the largest piece of it
};

std::span<const PredictedStep> predicted_steps();

}  // namespace headroom::lessons
