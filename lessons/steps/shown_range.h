// The part of a run that a figure shows, from parameters that all figures of runs share.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "demos/record/timeline.h"
#include "lessons/figure.h"

namespace headroom::lessons {

inline constexpr std::array<record::Choice, 3> kShowChoices{{
    {"last_step", "last step"},
    {"step", "one step"},
    {"run", "whole run"},
}};
inline constexpr record::ParamSpec kShowParam{.key = "show",
                                              .label = "Show",
                                              .help = "The last whole step, one step by its number, or the whole run",
                                              .kind = record::ParamKind::kChoice,
                                              .default_text = "last_step",
                                              .choices = kShowChoices};
inline constexpr record::ParamSpec kStepParam{.key = "step",
                                              .label = "Step",
                                              .help = "Number of the step, from 0",
                                              .kind = record::ParamKind::kInteger,
                                              .minimum = 0,
                                              .maximum = 1'000'000,
                                              .needs_key = "show",
                                              .needs_value = "step"};

struct ShownRange {
  record::StepRange range;   // step -1: not one step
  bool growing = false;      // this part of the run is in progress
  std::string empty_reason;  // why nothing is shown; else empty
};

// By default the step in progress; after the run, the last whole step or the one that ran out of memory.
ShownRange shown_range(const record::Recording& recording, const record::Params& params);

}  // namespace headroom::lessons
