// Traces a run with the planner.
#pragma once

#include <chrono>
#include <memory>
#include <thread>

#include "demos/backend/backend.h"
#include "tests/support/catch.h"

namespace headroom::tests {

// The run must complete.
inline std::shared_ptr<const record::Recording> planned(backend::Backend& planner, const backend::RunRequest& request) {
  using namespace std::chrono_literals;
  REQUIRE(planner.start(request).ok());
  while (planner.state() != backend::RunState::kFinished) {
    planner.poll();
    std::this_thread::sleep_for(1ms);
  }
  const std::shared_ptr<const record::Recording> trace = planner.recording();
  REQUIRE(trace->outcome());
  INFO(trace->outcome()->message);
  REQUIRE(trace->outcome()->kind == record::OutcomeKind::kCompleted);
  return trace;
}

}  // namespace headroom::tests
