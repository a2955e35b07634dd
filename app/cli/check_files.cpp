// Data, checkpoint, source and the optimizer's file.
#include "app/cli/check_files.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "demos/experiments/train_step_model.h"
#include "demos/record/text.h"

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
  if (source.find('\n') != std::string::npos || fs::is_regular_file(source, failed)) return record::Ok{};
  return Error{fmt::format("There is no file {}: `source` takes one with CUDA C++.", source)};
}

// The engine makes it, and nobody's file is written over.
record::Status check_state_file(const fs::path& path) {
  std::error_code failed;
  const auto refused = [&](const char* why) {
    return Error{fmt::format("The optimizer's state cannot go to {}: {}; choose another with offload_file.",
                             record::quoted(path.string()), why),
                 ErrorKind::kNotWritten};
  };
  if (fs::exists(fs::symlink_status(path, failed))) return refused("there is a file of that name");
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, failed)) return refused("its folder is not there");
  return record::Ok{};
}

}  // namespace

record::Status check_files(const Params& params, const EngineChoice& engine) {
  if (engine.elsewhere()) return record::Ok{};
  if (const std::string text = named(params, "data"); !text.empty())
    if (auto readable = check_text_file(text); !readable) return readable.error();
  if (!named(params, "weights").empty())
    if (const auto model = experiments::train_step_model(params); !model) return model.error();
  if (const std::string source = named(params, "source"); !source.empty())
    if (auto readable = check_source(source); !readable) return readable.error();
  if (const std::string file = named(params, "offload_file"); !file.empty())
    if (auto writable = check_state_file(file); !writable) return writable.error();
  return record::Ok{};
}

}  // namespace headroom::app
