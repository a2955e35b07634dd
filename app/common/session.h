// Chooses the engine (the one next to the executable, one that the user named, or none) and builds run requests.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/common/plan/predictions.h"
#include "demos/backend/backend.h"
#include "demos/record/recording.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

// An engine's command, or why there is none and what to do.
struct EngineChoice {
  std::optional<backend::EngineCommand> command;
  std::string reason;

  explicit operator bool() const { return command.has_value(); }
  // True if the engine may use another machine's files and devices, as through ssh.
  bool elsewhere() const { return command && command->arguments.size() > 1; }
};

// `asked` is the text of --engine. If empty, uses $HEADROOM_ENGINE, then headroom-engine next to the executable. A text
// that names no file is split into words: "ssh host headroom-engine".
EngineChoice choose_engine(std::string_view asked = {});

std::string as_typed(const backend::EngineCommand& command);

// Splits at blanks, except for blanks in quotes or after a backslash.
std::vector<std::string> split_words(std::string_view text);

// Engine processes start lazily.
class Session {
 public:
  explicit Session(EngineChoice engine) : engine_(std::move(engine)) {}

  bool has_engine() const { return static_cast<bool>(engine_); }
  // Why nothing can run, and what to do.
  const std::string& why_no_engine() const { return engine_.reason; }
  const EngineChoice& engine() const { return engine_; }

  // Runs demos; null without an engine.
  backend::Backend* runner();
  // Like runner(), but starts the process with the first run; until then the planner reports the devices.
  backend::Backend* later_runner();
  // Null without an engine.
  Predictions* predictions();

 private:
  EngineChoice engine_;
  std::unique_ptr<backend::Backend> runner_;
  std::unique_ptr<Predictions> predictions_;
};

// The request includes what the settings need of the engine process.
backend::RunRequest run_request(std::string_view demo, record::Params params);

using LoadedRecording = record::Result<std::shared_ptr<const record::Recording>>;
LoadedRecording load_recording(const std::filesystem::path& path);
// Null if this installation lacks the recording.
LoadedRecording load_stored(const std::filesystem::path& assets, std::string_view name);

}  // namespace headroom::app
