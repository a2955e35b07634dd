// Where a run comes from: an engine process, a stored recording, or a prediction. The caller cannot see which.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demos/protocol/messages.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::backend {

struct RunRequest {
  std::string demo;
  record::Params params;
  bool record = true;
  // If set, chunks are also written here as they arrive (RecordingWriter); failing to write does not stop the run. A
  // run that never began (refused, or ended before anything was recorded) leaves no file, and an older one as it was.
  std::optional<std::filesystem::path> record_to;
};

enum class RunState : std::uint8_t { kIdle, kStarting, kRunning, kCancelling, kFinished };

struct RunProgress {
  std::int32_t step = 0;
  std::int32_t steps = 0;
  double fraction = 0;
  record::Nanoseconds time_left = -1;  // -1: not known
  std::string doing;
};

// All calls from one thread; none waits. Call poll() once per frame, or when descriptor() becomes readable.
class Backend {
 public:
  virtual ~Backend() = default;

  // Refused while a run is on (finish or cancel it first).
  virtual record::Status start(const RunRequest& request) = 0;
  // Acknowledged at once; escalates by itself (cancel 2 s, SIGTERM 3 s, SIGKILL), driven by poll().
  virtual void cancel() = 0;
  // Takes in what has arrived. True if anything changed.
  virtual bool poll() = 0;

  virtual RunState state() const = 0;
  virtual const RunProgress& progress() const = 0;
  // The current or last run's; null before the first. Its outcome() is set once state() is kFinished. The object is
  // replaced, not reused, by the next start(): holders keep what they have.
  virtual std::shared_ptr<const record::Recording> recording() const = 0;
  // Why the recording could not be written to `record_to`, if so.
  virtual const std::optional<record::Error>& write_error() const = 0;

  // What can be run on; empty until the engine has said hello. Replays answer with the recording's own device.
  virtual const std::vector<protocol::DeviceFacts>& devices() const = 0;
  // What the engine said about itself (torch, cuda, driver, revision, …) and its process (pid); empty until it has said
  // hello, and where there is no engine.
  virtual const std::map<std::string, std::string>& facts() const {
    static const std::map<std::string, std::string> none;
    return none;
  }
  // One sentence when the backend cannot work now and why ("The engine died three times in two minutes; …"). Where time
  // heals it, start() tries again once the two minutes have passed.
  virtual const std::optional<std::string>& trouble() const = 0;
  // Readable when poll() has something to do; -1: none (a replay is driven by time).
  virtual int descriptor() const = 0;
};

// How to start an engine: program and arguments, e.g. {"…/headroom-engine"} or {"ssh", "host", "headroom-engine"}, and what
// its environment has beside ours: {"NAME=value"}.
struct EngineCommand {
  std::vector<std::string> arguments;
  std::vector<std::string> environment = {};
};

// What an engine said of its machine: devices() and facts().
struct Machine {
  std::vector<protocol::DeviceFacts> devices;
  std::map<std::string, std::string> facts;

  bool operator==(const Machine&) const = default;
};

// Starts the engine process at once, so that the first run need not wait for it; with `until_run`, which says what is known
// of its machine meanwhile, only with the first run, because an engine that waits holds some 350 MB. A run whose parameter
// `trace` is on
// goes to a second engine, started with --trace; one with a parameter `deadline`, too, and that engine is killed when the
// run shows no progress for so many seconds.
std::unique_ptr<Backend> make_engine(EngineCommand command, std::function<Machine()> until_run = {});
// The planner's meta step as a recording: requested bytes, no reserved line. A new start() replaces a pending one. It calls
// no GPU library: where its program has the folder planner/ beside it, it loads what that has in the place of cuBLASLt,
// which writes 150 MB while it is loaded (docs/architecture.md).
std::unique_ptr<Backend> make_prediction(EngineCommand command);

enum class ReplayPace : std::uint8_t { kAtOnce, kAsRecorded };
// Plays a stored recording as if it were running: whatever demo and parameters start() is asked for. `record_to` writes
// a copy.
std::unique_ptr<Backend> make_replay(std::shared_ptr<const record::Recording> recording, ReplayPace pace);

}  // namespace headroom::backend
