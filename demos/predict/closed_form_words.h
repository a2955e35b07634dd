// What the closed form says beside its numbers.
#pragma once

#include <string>
#include <vector>

#include "demos/predict/step_settings.h"

namespace headroom::predict {

// ClosedForm::left_out and ClosedForm::assumed.
std::vector<std::string> left_out(const StepSettings& step);
std::vector<std::string> assumed(const StepSettings& step);

}  // namespace headroom::predict
