// Executes one run on the worker thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/run/machine.h"
#include "demos/engine/live/run/run_feed.h"
#include "demos/protocol/messages.h"

namespace headroom::live {

struct RunContext {
  Machine& machine;
  EventSink& sink;
  RunFeed& feed;
  const std::filesystem::path& course_text;
  const std::atomic<bool>& cancel;
  std::atomic<std::uint64_t>& beats;        // incremented at every mark
  std::atomic<std::uint64_t>& collectives;  // incremented at the beginning of each
  std::atomic<bool>& computes;              // true if the worker thread, not a GPU, computes
};

// Exit codes after a run that left the process unfit for another run.
inline constexpr int kMemoryNotBack = 10;  // the run leaked bytes
inline constexpr int kLostContext = 30;    // every CUDA call fails

struct RunResult {
  record::Outcome outcome;
  std::optional<int> retire;  // exit code if the engine must end
};

// Failures of the run do not throw.
RunResult run_demo(const protocol::StartRun& start, const RunContext& context);

}  // namespace headroom::live
