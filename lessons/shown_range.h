// Which part of a run a figure shows, from the parameters that all figures of a run share.
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
  bool growing = false;      // the run goes on, and this part of it too
  std::string empty_reason;  // why there is nothing to show; empty: there is
};

// While a run goes on, the step that is under way; after it, the last whole step, or the one that ran out of memory.
ShownRange shown_range(const record::Recording& recording, const record::Params& params);

}  // namespace headroom::lessons
