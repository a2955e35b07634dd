// Formats plans as text, CSV and JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/common/plan/step_plan.h"

namespace headroom::app {

std::string plan_text(const std::vector<StepPlan>& plans);
// One CSV row per step and card; sizes in whole bytes.
std::string plan_csv(const std::vector<StepPlan>& plans);
nlohmann::json plan_json(const std::vector<StepPlan>& plans);

}  // namespace headroom::app
