// A source of runs: engine processes or the planner. Callers cannot see which.
#pragma once

#include <chrono>
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

struct EngineNeeds {
  bool traced = false;                           // started with --trace
  std::optional<std::chrono::seconds> patience;  // killed after this long without progress
  int ranks = 1;                                 // processes
};

struct RunRequest {
  std::string demo;
  record::Params params;
  EngineNeeds engine = {};
  record::DeviceKind device = record::DeviceKind::kCpu;  // the recording's device until the engine reports it
  bool record = true;
  // If set, chunks are also written to this file as they arrive (RecordingWriter). A write error does not stop the
  // run. A run that recorded nothing leaves an existing file unchanged.
  std::optional<std::filesystem::path> record_to = {};
};

enum class RunState : std::uint8_t { kIdle, kStarting, kRunning, kCancelling, kFinished };

using RunProgress = protocol::Progress;

// All calls come from one thread, and none blocks. Call poll() once per frame, or when descriptor() becomes readable.
class Backend {
 public:
  virtual ~Backend() = default;

  // Engines refuse a start during a run.
  virtual record::Status start(const RunRequest& request) = 0;
  // Returns at once. poll() escalates: SIGTERM 2 s after the cancel, SIGKILL 3 s later.
  virtual void cancel() = 0;
  // True if anything changed.
  virtual bool poll() = 0;

  virtual RunState state() const = 0;
  virtual const RunProgress& progress() const = 0;
  // The current or last run; null before the first. outcome() is set once state() is kFinished. The next start()
  // creates a new object.
  virtual std::shared_ptr<const record::Recording> recording() const = 0;
  // With several ranks recording() is rank 0's, and names the others.
  virtual int ranks() const { return 1; }
  virtual const std::optional<record::Error>& write_error() const = 0;

  // Empty until the engine's greeting.
  virtual const std::vector<protocol::DeviceFacts>& devices() const = 0;
  // From the engine's greeting (torch, cuda, driver, revision, …), with its pid. Empty until then.
  virtual const std::map<std::string, std::string>& facts() const {
    static const std::map<std::string, std::string> none;
    return none;
  }
  // Why the backend cannot work ("The engine died three times in two minutes; …"). After repeated deaths start()
  // tries again once the two minutes have passed.
  virtual const std::optional<std::string>& trouble() const = 0;
  // -1 without a process.
  virtual int descriptor() const = 0;
};

// Program and arguments, e.g. {"…/headroom-engine"} or {"ssh", "host", "headroom-engine"}, and additional environment
// variables: {"NAME=value"}.
struct EngineCommand {
  std::vector<std::string> arguments;
  std::vector<std::string> environment = {};
};

struct Machine {
  std::vector<protocol::DeviceFacts> devices;
  std::map<std::string, std::string> facts;

  bool operator==(const Machine&) const = default;
};

// Starts the engine process at once or, with `until_run`, for the first run, because an idle engine takes about 350 MB;
// until then `until_run` supplies the machine's facts. Runs with EngineNeeds use a second process.
std::unique_ptr<Backend> make_engine(EngineCommand command, std::function<Machine()> until_run = {});
// Records the planner's step on the meta device; the recording has requested bytes but no reserved line. A new start()
// replaces a pending one. The planner calls no GPU library. Libraries in a folder planner/ next to its program replace
// cuBLASLt, which writes 150 MB while it loads (docs/decisions/04-engine-roles.md).
std::unique_ptr<Backend> make_prediction(EngineCommand command);

// Returns early if the descriptor is readable; a descriptor of -1 only waits. Poll in either case, because
// Backend::poll() checks deadlines.
void wait(int descriptor, int milliseconds = 50);
void wait_and_poll(Backend& backend, int milliseconds = 50);

}  // namespace headroom::backend
