// Compares the largest batch b under a limit with its prediction: b fits, and b + 1 does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/common/step_plan.h"
#include "app/common/validation.h"
#include "demos/record/schema.h"

namespace headroom::app {

struct ComparedBorder {
  record::Params params;  // their cap is the limit
  std::string trouble;    // empty if compared
  std::int64_t predicted = 0, measured = 0;
};

// Runs the predicted largest batch and one more, then further batches until the border is found. Empty if stopped.
std::optional<ComparedBorder> validate_border(const record::Params& params, StepPlanner& planner,
                                              const ValidationTools& tools);

std::string border_head();
std::string border_row(const ComparedBorder& border);
// Parses a row of border_row(); empty for other rows.
std::optional<ComparedBorder> border_of_row(const std::string& row);

struct BorderSummary {
  int compared = 0, with_trouble = 0;
  int exact = 0, one_off = 0;
  int too_large = 0;  // predicted to fit, but ran out

  void add(const ComparedBorder& border);
  std::string text() const;
};

}  // namespace headroom::app
