// From the time of one run to that of another, so that their phases align.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "demos/record/timeline.h"

namespace headroom::record {

// Linear inside each phase. Runs whose steps have other phases (micro-batches, a step that ended early) align where the
// first phase begins, where the optimizer begins if both have one, and at their ends.
class PhaseMap {
 public:
  // Of both: phase_spans(), merged, and where the axis ends.
  PhaseMap(std::span<const PhaseSpan> from, double from_end, std::span<const PhaseSpan> to, double to_end);

  double operator()(double position) const;  // never decreases

 private:
  std::vector<std::pair<double, double>> knots_;  // ascending in both
};

}  // namespace headroom::record
