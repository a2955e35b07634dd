// Data, checkpoint, source and the optimizer's file.
#include "app/cli/check_files.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "demos/experiments/edit_kernel_exercises.h"
#include "demos/experiments/train_step_model.h"
#include "demos/llama/config.h"
#include "demos/llama/hugging_face.h"
#include "demos/record/text.h"
#include "demos/record/units.h"

namespace headroom::app {

namespace fs = std::filesystem;
using record::Error;
using record::ErrorKind;
using record::Params;

namespace {

// Empty: the demo has no such parameter, or it is not set or has no effect.
std::string named(const Params& params, std::string_view key) {
  return params.has(key) && params.in_use(key) ? std::string(params.text(key)) : std::string();
}

// A kernel's source is a file's name unless it has a line break.
record::Status check_source(const std::string& source) {
  std::error_code failed;
  if (source.find('\n') == std::string::npos && !fs::is_regular_file(source, failed))
    return Error{fmt::format("There is no file {}: `source` takes one with CUDA C++.", source)};
  if (const auto text = experiments::edited_source(source, experiments::exercises().front()); !text)
    return Error{text.error().message};
  return record::Ok{};
}

record::Status check_weights(const Params& params) {
  const auto model = experiments::train_step_model(params);
  if (!model) return model.error();
  try {
    return llama::check_tied_head(*model.value().weights, model.value().config);
  } catch (const llama::FileChanged& changed) {
    return Error{changed.what()};
  }
}

// Of the optimizer's state, as far as the settings alone tell: two moments, and the masters of mixed precision.
record::Bytes state_bytes(const Params& params) {
  if (params.text("adapters") != "off") return 0;  // little
  const auto model = experiments::train_step_model(params);
  if (!model) return 0;  // the engine says what is wrong with it
  const std::string_view precision = params.text("precision");
  return llama::num_parameters(model.value().config) * (precision == "bf16"             ? 2 * 2
                                                        : precision.ends_with("_mixed") ? 3 * 4
                                                                                        : 2 * 4);
}

// The engine makes the file: nobody's is written over, and a full disk is known before a model is built.
record::Status check_new_file(std::string_view key, const fs::path& path, record::Bytes bytes) {
  std::error_code failed;
  const auto refused = [&](const std::string& why) {
    return Error{
        fmt::format("The file {} cannot be made: {}; choose another with {}.",
                    path.empty() ? "in the folder for temporary files" : record::quoted(path.string()), why, key),
        ErrorKind::kNotWritten};
  };
  if (!path.empty() && fs::exists(fs::symlink_status(path, failed))) return refused("there is a file of that name");
  const fs::path folder = path.empty()             ? fs::temp_directory_path(failed)
                          : path.has_parent_path() ? path.parent_path()
                                                   : fs::path(".");
  if (!fs::is_directory(folder, failed)) return refused("its folder is not there");
  const fs::space_info space = fs::space(folder, failed);
  if (failed || bytes < 0 || static_cast<std::uintmax_t>(bytes) <= space.available) return record::Ok{};
  return refused(fmt::format("it takes {} and {} are free", record::format_bytes(bytes),
                             record::format_bytes(static_cast<record::Bytes>(space.available))));
}

}  // namespace

record::Status check_files(const Params& params, const EngineChoice& engine) {
  if (engine.elsewhere()) return record::Ok{};
  if (const std::string text = named(params, "data"); !text.empty())
    if (auto readable = check_text_file(text); !readable) return readable.error();
  if (!named(params, "weights").empty())
    if (auto usable = check_weights(params); !usable) return usable.error();
  if (const std::string source = named(params, "source"); !source.empty())
    if (auto readable = check_source(source); !readable) return readable.error();
  if (params.has("offload_file") && params.in_use("offload_file"))
    if (auto room = check_new_file("offload_file", params.text("offload_file"), state_bytes(params)); !room)
      return room.error();
  if (params.has("file") && params.has("size"))  // of the demo bandwidth
    if (auto room = check_new_file("file", params.text("file"), params.integer("size")); !room) return room.error();
  return record::Ok{};
}

}  // namespace headroom::app
