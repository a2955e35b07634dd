// Training data and tokenizer of `train_step`. No torch, so that the command line can report errors before an engine
// starts.
#pragma once

#include <filesystem>

#include "demos/predict/step_settings.h"
#include "demos/tokens/token_data.h"

namespace headroom::experiments {

// Returns the settings' file, otherwise the course's text. A text uses the tokenizer.json in the model's folder, if
// there is one. `step` must have the trained model (train_step_model.h).
tokens::DataSource data_source(const predict::StepSettings& step, const std::filesystem::path& course_text);

}  // namespace headroom::experiments
