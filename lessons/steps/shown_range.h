// The part of a run that a figure shows, from parameters that all figures of runs share.
#pragma once

#include <array>
#include <string>

#include "demos/record/timeline.h"
#include "lessons/figure.h"
#include "lessons/params.h"

namespace headroom::lessons {

inline constexpr std::array<record::Choice, 3> kShowChoices{{
    {"last_step", "last step"},
    {"step", "one step"},
    {"run", "whole run"},
}};
inline constexpr record::ParamSpec kShowParam = experiments::choice(
    "show", "Show", "The last whole step, one step by its number, or the whole run", kShowChoices, "last_step");
inline constexpr record::ParamSpec kStepParam =
    experiments::needs(whole_param("step", "Step", "Number of the step, from 0", 0, 1'000'000, 0), "show", "step");

struct ShownRange {
  record::StepRange range;  // its step is -1 if the range is not one step
  bool growing = false;     // this part of the run is in progress
  std::string empty_reason;
};

// The request that failed at the end of a range; null if the range does not end with a failure.
const record::OutOfMemoryFacts* failure_at_end(const record::Recording& run, std::uint64_t last);

// By default the step in progress; after the run, the last whole step or the one that ran out of memory.
ShownRange shown_range(const record::Recording& recording, const record::Params& params);

}  // namespace headroom::lessons
