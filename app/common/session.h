// Chooses where runs come from: the engine beside the executable, one that the user named, or stored runs only.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/common/predictions.h"
#include "demos/backend/backend.h"
#include "demos/record/recording.h"
#include "demos/record/result.h"

namespace headroom::app {

// An engine's command, or the reason why there is none (one sentence with the cure).
struct EngineChoice {
  std::optional<backend::EngineCommand> command;
  std::string reason;

  explicit operator bool() const { return command.has_value(); }
  // A command, such as ssh, rather than a program: its machine, with its files and devices, may be another one.
  bool elsewhere() const { return command && command->arguments.size() > 1; }
};

// `asked` is the text of --engine, empty if not given. Then $HEADROOM_ENGINE, then headroom-engine beside the running
// executable. A text that names a file is that file; any other is split into words: "ssh host headroom-engine".
EngineChoice choose_engine(std::string_view asked = {});

// The command's words as a person would type them, for messages.
std::string as_typed(const backend::EngineCommand& command);

// Splits at blanks; '…' and "…" keep blanks together, a backslash the next character.
std::vector<std::string> split_words(std::string_view text);

// What a program needs for its runs. Engine processes start when they are first asked for.
class Session {
 public:
  explicit Session(EngineChoice engine) : engine_(std::move(engine)) {}

  bool has_engine() const { return static_cast<bool>(engine_); }
  // Why nothing can be run, with the cure; empty with an engine.
  const std::string& why_no_engine() const { return engine_.reason; }
  const EngineChoice& engine() const { return engine_; }

  // Runs demos; null without an engine. Owned by the session, the same one each time.
  backend::Backend* runner();
  // The same with a process that starts with the first run: the planner's says until then what the machine has.
  backend::Backend* later_runner();
  // Answers settings with predicted recordings; null without an engine. Owned by the session.
  Predictions* predictions();

 private:
  EngineChoice engine_;
  std::unique_ptr<backend::Backend> runner_;
  std::unique_ptr<Predictions> predictions_;
};

// Reads a stored recording, to be shared between a replay and the figures.
record::Result<std::shared_ptr<const record::Recording>> load_recording(const std::filesystem::path& path);

}  // namespace headroom::app
