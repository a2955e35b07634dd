// Plans of training steps as text, CSV and JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/common/step_plan.h"

namespace headroom::app {

std::string plan_text(const std::vector<StepPlan>& plans);
// A row for each step and card, bytes as whole numbers.
std::string plan_csv(const std::vector<StepPlan>& plans);
nlohmann::json plan_json(const std::vector<StepPlan>& plans);

}  // namespace headroom::app
