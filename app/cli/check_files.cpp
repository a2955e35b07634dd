// Checks data, checkpoint, source and optimizer files.
#include "app/cli/check_files.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "demos/experiments/info/edit_kernel_exercises.h"
#include "demos/experiments/info/train_step_model.h"
#include "demos/llama/files/hugging_face.h"
#include "demos/llama/files/new_folder.h"
#include "demos/llama/training_place.h"
#include "demos/predict/step_settings.h"
#include "demos/record/text.h"
#include "demos/record/units.h"

namespace headroom::app {

namespace fs = std::filesystem;
using record::Error;
using record::ErrorKind;
using record::FileUse;
using record::Params;

namespace {

// `source` is code if it contains line breaks, otherwise a file name.
record::Status check_source(std::string_view key, const std::string& source) {
  std::error_code failed;
  if (source.find('\n') == std::string::npos && !fs::is_regular_file(source, failed))
    return Error{fmt::format("The file {} does not exist: `{}` needs a file with CUDA C++.", source, key)};
  if (const auto text = experiments::edited_source(source, experiments::exercises().front()); !text)
    return Error{text.error().message};
  return record::Ok{};
}

record::Status check_weights(const Params& params) {
  const auto model = experiments::train_step_model(predict::step_settings(params));
  if (!model) return model.error();
  if (!model.value().weights) return record::Ok{};  // only a config.json
  try {
    return llama::check_tied_head(*model.value().weights, model.value().config);
  } catch (const llama::UnusableWeights& changed) {
    return Error{changed.what()};
  }
}

// Only train_step reads a text. check_weights() reports an unreadable model.
record::Status check_data(const Params& params) {
  predict::StepSettings step = predict::step_settings(params);
  const auto model = experiments::train_step_model(step);
  const auto assets = find_assets();
  if (!model || (!assets && step.files.text.empty())) return record::Ok{};
  step.model = model.value().config;
  return tokens::check(experiments::data_source(step, assets ? course_text(assets.value()) : fs::path()));
}

// Refuses a file that exists, and reports a full disk before a model is built.
record::Status check_new_file(std::string_view key, const fs::path& path, record::Bytes bytes) {
  std::error_code failed;
  const auto refused = [&](const std::string& why) {
    return Error{
        fmt::format("The file {} cannot be created: {}; choose another one with {}.",
                    path.empty() ? "in the folder for temporary files" : record::quoted(path.string()), why, key),
        ErrorKind::kNotWritten};
  };
  if (!path.empty() && fs::exists(fs::symlink_status(path, failed))) return refused("a file with that name exists");
  const fs::path folder = path.empty()             ? fs::temp_directory_path(failed)
                          : path.has_parent_path() ? path.parent_path()
                                                   : fs::path(".");
  if (!fs::is_directory(folder, failed)) return refused("its folder does not exist");
  const fs::space_info space = fs::space(folder, failed);
  if (failed || bytes < 0 || static_cast<std::uintmax_t>(bytes) <= space.available) return record::Ok{};
  return refused(fmt::format("it needs {}, but {} are free", record::format_bytes(bytes),
                             record::format_bytes(static_cast<record::Bytes>(space.available))));
}

record::Status check_file(const experiments::DemoInfo& demo, const Params& params, const record::ParamSpec& spec) {
  const std::string& name = params.text(spec.key);
  if (spec.file == FileUse::kWritten) return check_new_file(spec.key, name, demo.written_bytes(params));
  if (spec.file == FileUse::kText) return check_data(params);
  if (name.empty()) return record::Ok{};
  if (spec.file == FileUse::kNewFolder) return llama::NewFolder::check(name);
  if (spec.file == FileUse::kSaved)
    if (const auto place = llama::read_place(name); !place) return place.error();
  if (spec.file == FileUse::kSource) return check_source(spec.key, name);
  return spec.file == FileUse::kCheckpoint ? check_weights(params) : record::Ok{};
}

}  // namespace

record::Status check_files(const experiments::DemoInfo& demo, const Params& params, const EngineChoice& engine,
                           bool reads_data) {
  if (engine.elsewhere()) return record::Ok{};
  for (const record::ParamSpec& spec : demo.schema)
    if (spec.file != FileUse::kNone && params.in_use(spec.key) && (reads_data || spec.file != FileUse::kText))
      if (auto usable = check_file(demo, params, spec); !usable) return usable;
  return record::Ok{};
}

}  // namespace headroom::app
