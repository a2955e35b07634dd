// Runs that were predicted first and then made: the rows of docs/results/prediction that ran to their end, compiled in.
#pragma once

#include <span>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::lessons {

struct ValidatedRun {
  std::string_view gpu;       // "H200"
  std::string_view settings;  // "model=custom batch=5 seq=116 …"
  record::Bytes predicted;    // reserved by the allocator, at the most
  record::Bytes measured;
};

std::span<const ValidatedRun> validated_runs();

}  // namespace headroom::lessons
