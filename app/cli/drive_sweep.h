// Drives a sweep from a terminal and chooses its exit code.
#pragma once

#include <memory>
#include <optional>

#include "app/common/exit_codes.h"
#include "app/common/session.h"
#include "app/common/sweep.h"
#include "demos/record/result.h"

namespace headroom::app {

struct DrivenSweep {
  std::shared_ptr<const record::Recording> recording;
  std::optional<record::Error> write_error;
  std::size_t planned = 0;
  std::size_t found = 0;  // already in the file
  bool time_limit_met = false;
  bool interrupted = false;
};

struct SweepFile {
  std::optional<std::string> path;
  bool restart = false;
};

// Fails for the first point with an unusable file.
record::Status check_files(const SweepPlan& plan, const EngineChoice& engine);

// Runs the points that the file lacks; starts no engine if there are none. Ctrl-C and the time limit (seconds for the
// whole sweep) cancel the running point and keep all measurements.
record::Result<DrivenSweep> drive_sweep(SweepPlan plan, const EngineChoice& engine, const SweepFile& file,
                                        std::optional<double> time_limit);

// True if any point has a result; running out of memory counts as a result.
bool measured(const DrivenSweep& sweep);

// kDone if any point has a result, kRefused if all were refused, otherwise kEngine.
ExitCode exit_code_of(const DrivenSweep& sweep);

// Reports how many points were in the file, which failed, and how the sweep ended.
void say_what_happened(const DrivenSweep& sweep, const SweepFile& file);

}  // namespace headroom::app
