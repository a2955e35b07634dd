// Phrases for the closed form.
#pragma once

#include <string>
#include <vector>

#include "demos/predict/step_settings.h"

namespace headroom::predict {

std::vector<std::string> left_out(const StepSettings& step);
std::vector<std::string> assumed(const StepSettings& step);

}  // namespace headroom::predict
