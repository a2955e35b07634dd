// Draws figures of a predicted step, with the card that it must fit on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/chosen_figures.h"
#include "demos/record/result.h"

namespace headroom::app {

struct StepChoice {
  std::vector<std::string> of;  // key=value
  std::optional<std::string> model, card;

  bool given() const { return !of.empty() || model || card; }
};

// Checks that all names exist and the figures can follow settings; starts no engine.
record::Status check_step_figures(const StepChoice& step, const std::vector<std::string>& ids);

// The figures in `ids`, or else all that can follow settings. Fails if no run takes the settings.
record::Result<std::vector<RunFigures>> step_figures(const StepChoice& step, const std::vector<std::string>& ids,
                                                     const std::string& engine);

}  // namespace headroom::app
