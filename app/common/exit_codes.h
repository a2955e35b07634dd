// The program's exit codes, as `headroom --help` lists them.
#pragma once

#include "demos/record/recording.h"
#include "demos/record/result.h"

namespace headroom::app {

enum class ExitCode : int {
  kDone = 0,         // also if memory ran out, which is a result
  kFailed = 1,       // a figure or a check failed
  kBadInput = 2,     // usage, bad input, no display for a window
  kRefused = 3,      // no suitable device, or a refused combination
  kOutOfMemory = 4,  // only with --fail-on-oom
  kTimeLimit = 5,
  kNotWritten = 6,  // the output folder or disk cannot be written
  kEngine = 7,
  kInterrupted = 130,
};

// Each error kind has the number of its exit code.
inline ExitCode exit_code_of(const record::Error& error) { return static_cast<ExitCode>(error.kind); }

// Only the caller knows whether a time limit cancelled the run, and whether out of memory is a failure.
inline ExitCode exit_code_of(record::OutcomeKind outcome) {
  switch (outcome) {
    case record::OutcomeKind::kCompleted:
    case record::OutcomeKind::kOutOfMemory:
      return ExitCode::kDone;
    case record::OutcomeKind::kCancelled:
      return ExitCode::kInterrupted;
    case record::OutcomeKind::kRefused:
      return ExitCode::kRefused;
    case record::OutcomeKind::kEngineLost:
    case record::OutcomeKind::kFailed:
      return ExitCode::kEngine;
  }
  return ExitCode::kEngine;
}

}  // namespace headroom::app
