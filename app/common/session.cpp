// Chooses and starts the engine. A demo's DemoInfo says which settings need a separate engine process.
#include "app/common/session.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "demos/experiments/demo.h"
#include "demos/record/run_recordings.h"

namespace headroom::app {

namespace fs = std::filesystem;

namespace {

bool is_executable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// `cure`: the beginning of the error's sentence, such as "Leave --engine out".
EngineChoice engine_from_text(std::string_view text, std::string_view cure) {
  if (is_executable(text)) return {backend::EngineCommand{{std::string(text)}}, {}};
  std::vector<std::string> words = split_words(text);
  if (words.empty()) return {std::nullopt, fmt::format("{}, or name a program: it is empty.", cure)};
  // A bare name is looked up in PATH later; only a path can be checked now.
  if (words[0].find('/') != std::string::npos && !is_executable(words[0]))
    return {std::nullopt, fmt::format("{}, or name a program: {} is not executable.", cure, words[0])};
  return {backend::EngineCommand{std::move(words)}, {}};
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::string as_typed(const backend::EngineCommand& command) {
  std::string text;
  for (const std::string& word : command.arguments) {
    if (!text.empty()) text += ' ';
    text += word.find(' ') == std::string::npos ? word : "'" + word + "'";
  }
  return text;
}

EngineChoice choose_engine(std::string_view asked) {
  if (!asked.empty()) return engine_from_text(asked, "Remove --engine");
  if (const char* named = std::getenv("HEADROOM_ENGINE"); named != nullptr && *named != '\0')
    return engine_from_text(named, "Unset HEADROOM_ENGINE");
  const fs::path beside = executable_folder() / "headroom-engine";
  if (is_executable(beside)) return {backend::EngineCommand{{beside.string()}}, {}};
  return {std::nullopt,
          "This build has no engine: `./run` builds one, or name one with --engine \"ssh HOST headroom-engine\"."};
}

backend::Backend* Session::runner() {
  if (!runner_ && engine_) runner_ = backend::make_engine(*engine_.command);
  return runner_.get();
}

backend::Backend* Session::later_runner() {
  if (!runner_ && engine_)
    runner_ = backend::make_engine(*engine_.command, [planner = predictions()] { return planner->machine(); });
  return runner_.get();
}

Predictions* Session::predictions() {
  if (!predictions_ && engine_)
    predictions_ =
        std::make_unique<Predictions>([command = *engine_.command] { return backend::make_prediction(command); });
  return predictions_.get();
}

backend::RunRequest run_request(std::string_view demo, record::Params params) {
  backend::RunRequest request{.demo = std::string(demo), .params = std::move(params)};
  if (request.params.has("device") && record::names_gpu(request.params.text("device")))
    request.device = record::DeviceKind::kGpu;
  const experiments::DemoInfo* const info = experiments::find_demo(demo);
  if (info != nullptr && info->traced != nullptr) request.engine.traced = info->traced(request.params);
  if (info != nullptr && info->patience != nullptr)
    if (const std::int64_t seconds = info->patience(request.params); seconds > 0)
      request.engine.patience = std::chrono::seconds(seconds);
  if (info != nullptr && info->ranks != nullptr) request.engine.ranks = static_cast<int>(info->ranks(request.params));
  return request;
}

LoadedRecording load_recording(const fs::path& path) {
  auto read = record::RunRecordings::read(path);
  if (!read) return read.error();
  return std::shared_ptr<const record::Recording>(
      std::make_shared<record::Recording>(std::move(read).value().joined()));
}

LoadedRecording load_stored(const fs::path& assets, std::string_view name) {
  const fs::path path = recording_path(assets, name);
  if (std::error_code ignored; !fs::exists(path, ignored)) return std::shared_ptr<const record::Recording>();
  return load_recording(path);
}

}  // namespace headroom::app
