// Reads and describes a model's folder.
#include "app/page/settings/own_model.h"

#include <filesystem>

#include <fmt/format.h>

#include "demos/experiments/info/train_step_model.h"
#include "demos/predict/step_settings.h"

namespace headroom::app::page {

std::string OwnModel::words() const {
  const std::string shape = fmt::format("{} weights in {} layers", record::format_count(llama::num_parameters(config)),
                                        record::format_count(config.num_layers));
  if (files == 0) return shape + "; only its shape is given, so a run uses random weights.";
  return fmt::format("{}; {} in {} {}.", shape, record::format_bytes(bytes), files, files == 1 ? "file" : "files");
}

std::optional<OwnModel> read_own_model(const record::Params& train_step) {
  const predict::StepSettings step = predict::step_settings(train_step);
  if (step.files.weights.empty()) return std::nullopt;
  const auto model = experiments::train_step_model(step);
  if (!model) return OwnModel{.config = step.model, .trouble = model.error().message};
  OwnModel own{.config = model.value().config};
  if (!model.value().weights) return own;
  for (const std::filesystem::path& file : model.value().weights->files) {
    std::error_code failed;
    const std::uintmax_t bytes = std::filesystem::file_size(file, failed);
    if (!failed) own.bytes += static_cast<record::Bytes>(bytes);
    ++own.files;
  }
  return own;
}

const OwnModel* OwnModelReader::of(const record::Params& train_step) {
  const std::string weights = train_step.text("weights"), name = train_step.text("model");
  if (weights.empty()) return nullptr;
  if (weights != weights_ || name != name_) {
    own_ = read_own_model(train_step);
    weights_ = weights;
    name_ = name;
  }
  return own_ ? &*own_ : nullptr;
}

}  // namespace headroom::app::page
