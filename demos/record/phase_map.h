// Maps times between two runs, so that their phases align.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "demos/record/timeline.h"

namespace headroom::record {

// Linear within phases. Runs with different phases align at the start, at the optimizer if both have one, and at the
// end.
class PhaseMap {
 public:
  // `from` and `to`: merged phase_spans(). `start`: a moment of both runs, before which nothing is mapped.
  PhaseMap(std::span<const PhaseSpan> from, double from_end, std::span<const PhaseSpan> to, double to_end,
           std::pair<double, double> start = {0, 0});

  double operator()(double position) const;  // monotonic

 private:
  std::vector<std::pair<double, double>> knots_;  // both numbers ascend
};

}  // namespace headroom::record
