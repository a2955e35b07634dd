// Drives one run from a terminal: waits for the engine, shows progress, minds Ctrl-C and the time limit.
#pragma once

#include <memory>
#include <optional>

#include "app/common/exit_codes.h"
#include "demos/backend/backend.h"
#include "demos/record/recording.h"
#include "demos/record/result.h"

namespace headroom::app {

// Returns when the engine has said hello, an error when it cannot; nothing else starts before. Ends early when the user
// interrupts: ask interrupted().
record::Status wait_for_engine(backend::Backend& engine);

// Refuses a device that the engine does not have (parameter `device`, where the demo has it and it is not auto).
record::Status check_device(const backend::Backend& engine, const record::Params& params);

struct DrivenRun {
  std::shared_ptr<const record::Recording> recording;  // with an outcome
  std::optional<record::Error> write_error;            // why `record_to` was not written
  bool time_limit_met = false;
  bool interrupted = false;
};

// Runs to the end. At Ctrl-C and at the time limit (seconds) the run is cancelled, and what it has recorded is kept.
record::Result<DrivenRun> drive(backend::Backend& engine, const backend::RunRequest& request,
                                std::optional<double> time_limit = std::nullopt);

struct WholeRun {
  std::shared_ptr<const record::Recording> recording;  // null: interrupted, or the time limit was met
  ExitCode exit_code = ExitCode::kDone;
};

// Like `drive`, but anything short of completion is an error, except an interrupt and the time limit: those are said, and
// `recording` is null. `json`: messages go to stdout as well.
record::Result<WholeRun> drive_to_end(backend::Backend& engine, const backend::RunRequest& request,
                                      std::optional<double> time_limit, bool json);

}  // namespace headroom::app
