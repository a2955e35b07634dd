// Drives one run from a terminal, with progress, Ctrl-C and a time limit.
#pragma once

#include <memory>
#include <optional>

#include "app/common/session.h"
#include "demos/backend/backend.h"
#include "demos/record/recording.h"
#include "demos/record/result.h"

namespace headroom::app {

// Waits for the engine's greeting, which must come before everything else. An interrupt returns an error without a
// message.
record::Status wait_for_engine(backend::Backend& engine);

// Fails if `device` is set, not auto, and not one of the engine's.
record::Status check_device(const backend::Backend& engine, const record::Params& params);

// Waits for the session's engine to greet; fails if the engine lacks the device that `params` names.
record::Result<backend::Backend*> ready_engine(Session& session, const record::Params& params = {});

struct DrivenRun {
  std::shared_ptr<const record::Recording> recording;
  std::optional<record::Error> write_error;  // why `record_to` was not written
  bool time_limit_met = false;
  bool interrupted = false;
};

// Runs to the end. Ctrl-C and the time limit (seconds) cancel the run and keep what it has recorded. `rank`: of this
// process in a launch. Rank 0 shows progress; another rank says only that it still waits to meet the others.
record::Result<DrivenRun> drive(backend::Backend& engine, const backend::RunRequest& request,
                                std::optional<double> time_limit = std::nullopt, int rank = 0);

// Like `drive`, but fails unless the run completes.
record::Result<std::shared_ptr<const record::Recording>> drive_to_end(backend::Backend& engine,
                                                                      const backend::RunRequest& request,
                                                                      std::optional<double> time_limit);

}  // namespace headroom::app
