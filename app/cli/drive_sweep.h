// Drives a sweep from a terminal, and what its exit code is.
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
  std::size_t found = 0;  // points that the file had already
  bool time_limit_met = false;
  bool interrupted = false;
};

struct SweepFile {
  std::optional<std::string> path;
  bool restart = false;
};

// Files that a point names and that cannot be used are bad input: check_files() of the first such point.
record::Status check_files(const SweepPlan& plan, const EngineChoice& engine);

// Runs all that the file does not have yet; without any such point no engine is started. At Ctrl-C and at the time limit
// (seconds, of the whole sweep) the point that runs is cancelled, and what was measured until then is kept.
record::Result<DrivenSweep> drive_sweep(SweepPlan plan, const EngineChoice& engine, const SweepFile& file,
                                        std::optional<double> time_limit);

// Whether some point came to a result; out of memory is one.
bool measured(const DrivenSweep& sweep);

// A point that failed costs itself: the sweep is done. Refused only if all points are, failed if none came to a result.
ExitCode exit_code_of(const DrivenSweep& sweep);

// Sentences on stderr: what was found in the file, how it ended, which points failed and why.
void say_what_happened(const DrivenSweep& sweep, const SweepFile& file);

}  // namespace headroom::app
