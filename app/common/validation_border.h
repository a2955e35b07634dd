// The largest batch under a limit, as predicted and as found by running: b fits, and b + 1 does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/common/step_plan.h"
#include "app/common/validation.h"
#include "demos/record/schema.h"

namespace headroom::app {

struct ComparedBorder {
  record::Params params;  // with the limit as their cap
  std::string trouble;    // why there is nothing to compare: one sentence; empty: none
  std::int64_t predicted = 0, measured = 0;
};

// Runs the predicted largest batch and one more; where that was wrong, on until the border is found. Nothing: stopped.
std::optional<ComparedBorder> validate_border(const record::Params& params, StepPlanner& planner,
                                              const ValidationTools& tools);

std::string border_head();
std::string border_row(const ComparedBorder& border);
// Of the rows of a table that were written before; nothing: the row is none of ours.
std::optional<ComparedBorder> border_of_row(const std::string& row);

struct BorderSummary {
  int compared = 0, with_trouble = 0;
  int exact = 0, one_off = 0;
  int too_large = 0;  // said to fit, and ran out

  void add(const ComparedBorder& border);
  std::string text() const;
};

}  // namespace headroom::app
