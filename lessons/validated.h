// Runs that were predicted before they were made: completed rows of docs/results/prediction, compiled in.
#pragma once

#include <span>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::lessons {

struct ValidatedRun {
  std::string_view gpu;       // "H200"
  std::string_view settings;  // "model=custom batch=5 seq=116 …"
  record::Bytes predicted;    // peak reserved by the allocator
  record::Bytes measured;
};

std::span<const ValidatedRun> validated_runs();

}  // namespace headroom::lessons
