// Which data the settings of `train_step` name, and by which tokenizer. No torch, so that the command line can say what is
// wrong before an engine starts.
#pragma once

#include <filesystem>

#include "demos/predict/step_settings.h"
#include "demos/tokens/token_data.h"

namespace headroom::experiments {

// The settings' file, else the course's text; a text by the tokenizer.json in the model's folder, where there is one. The
// model is the one that the step trains (train_step_model.h).
tokens::DataSource data_source(const predict::StepSettings& step, const std::filesystem::path& course_text);

}  // namespace headroom::experiments
