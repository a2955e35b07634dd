// What the program's exit codes mean; `headroom --help` prints the same list.
#pragma once

#include "demos/record/recording.h"
#include "demos/record/result.h"

namespace headroom::app {

enum class ExitCode : int {
  kDone = 0,         // running out of memory is a result, too
  kFailed = 1,       // a figure or a check failed
  kBadInput = 2,     // cannot start as asked: usage, bad input, no display for a window
  kRefused = 3,      // no suitable device, or a combination that is refused
  kOutOfMemory = 4,  // only with --fail-on-oom
  kTimeLimit = 5,
  kNotWritten = 6,  // output folder or disk
  kEngine = 7,      // the engine failed
  kInterrupted = 130,
};

// An error's kind is numbered as its exit code.
inline ExitCode exit_code_of(const record::Error& error) { return static_cast<ExitCode>(error.kind); }

// How a run ended. Only the caller knows whether a cancelled run met its time limit and whether out of memory counts as
// a failure; it asks for those two itself.
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
