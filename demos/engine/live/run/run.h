// One run from request to outcome, on the worker thread.
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
  const std::filesystem::path& course_text;  // the text to train on where a run names none
  const std::atomic<bool>& cancel;
  std::atomic<std::uint64_t>& beats;  // counted up at every mark
  std::atomic<bool>& computes;        // set to whether this thread itself does the work, and no GPU
};

// Exit codes of an engine that ends after a run which left the process unfit for another.
inline constexpr int kMemoryNotBack = 10;  // bytes stayed behind
inline constexpr int kLostContext = 30;    // CUDA answers every call with the same error

struct RunResult {
  record::Outcome outcome;
  std::optional<int> retire;  // the engine must end, with this exit code
};

// Everything that the run reports goes to the feed and the sink; the outcome is returned. Throws nothing that
// a run can cause.
RunResult run_demo(const protocol::StartRun& start, const RunContext& context);

}  // namespace headroom::live
