// Figures of settings that nothing has run with: drawn of the prediction, with the card that it is to fit on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/chosen_figures.h"
#include "demos/record/result.h"

namespace headroom::app {

// What the command line says of the step.
struct StepChoice {
  std::vector<std::string> of;  // key=value of train_step
  std::optional<std::string> model, card;

  bool given() const { return !of.empty() || model || card; }
};

// Whether the catalogues have all that is named, and the figures can be drawn of settings; asks no engine.
record::Status check_step_figures(const StepChoice& step, const std::vector<std::string>& ids);

// The figures named by `ids`, else all that can be drawn of settings. Refused where no run takes the settings.
record::Result<std::vector<RunFigures>> step_figures(const StepChoice& step, const std::vector<std::string>& ids,
                                                     const std::string& engine);

}  // namespace headroom::app
