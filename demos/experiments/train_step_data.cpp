// Finds the tokenizer.
#include "demos/experiments/train_step_data.h"

#include "demos/llama/hugging_face.h"

namespace headroom::experiments {

namespace fs = std::filesystem;

tokens::DataSource data_source(const predict::StepSettings& step, const fs::path& course_text) {
  tokens::DataSource source{.file = step.files.text.empty() ? course_text : fs::path(step.files.text),
                            .tokenizer = {},
                            .vocabulary = step.model.vocab_size,
                            .data_type = step.files.data_type};
  if (step.files.weights.empty()) return source;
  const fs::path tokenizer = llama::model_folder(step.files.weights) / llama::kTokenizerFile;
  std::error_code failed;
  if (fs::exists(fs::symlink_status(tokenizer, failed))) source.tokenizer = tokenizer;
  return source;
}

}  // namespace headroom::experiments
