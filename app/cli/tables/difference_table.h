// The difference of two runs' steps as text and JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "demos/record/ledger.h"
#include "lessons/steps/step_difference.h"

namespace headroom::app {

// `name`: the heading of the run's column, "A"; `key`: its name in JSON, "a".
struct ComparedSide {
  const record::Ledger& ledger;
  std::string name, key;
};

// How many events are equal, the first that differs, and tables by kind, phase and layer.
std::string difference_text(const lessons::StepDifference& difference, const ComparedSide& run,
                            const ComparedSide& other);
nlohmann::json difference_json(const lessons::StepDifference& difference, const ComparedSide& run,
                               const ComparedSide& other);

}  // namespace headroom::app
