// The thread that owns all tensors and streams, and executes the runs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/run/machine.h"
#include "demos/engine/live/run/run_feed.h"
#include "demos/protocol/messages.h"

namespace headroom::live {

class Worker {
 public:
  Worker(EngineRole role, Probes probes, EventSink& sink, RunFeed& feed, MachineFacts facts,
         std::filesystem::path course_text);
  ~Worker();

  struct Submitted {
    bool taken = false;                    // false: another run is active
    std::optional<std::uint64_t> dropped;  // a planner's waiting request, replaced by this one
  };
  Submitted submit(protocol::StartRun start);
  // True if the run was still waiting; an active run stops at its next layer.
  bool cancel(std::uint64_t run);

  // Grows while the worker makes progress: with every mark and, on the CPU, with the thread's processor time, since one
  // GEMM, or the creation of a large model's weights, can take minutes. A thread that waits for a GPU spins, so its
  // time does not count.
  std::uint64_t beats();
  // Collectives that the run has begun; a rank that waits for others has begun one more than they.
  std::uint64_t collectives() const { return collectives_; }
  // Exit code after a run that this process must not outlive; set before its outcome is sent.
  std::optional<int> retired() const;

 private:
  void work();

  const EngineRole role_;
  const Probes probes_;
  EventSink& sink_;
  RunFeed& feed_;
  const MachineFacts facts_;
  const std::filesystem::path course_text_;
  std::atomic<std::uint64_t> beats_{0};
  std::atomic<std::uint64_t> collectives_{0};
  std::atomic<bool> computes_{false};
  std::atomic<std::uint64_t> tenths_{0};  // tenths of a second of processor time
  std::atomic<bool> cancel_{false};
  std::atomic<int> retired_{0};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<protocol::StartRun> waiting_;
  std::optional<std::uint64_t> running_;
  bool stopping_ = false;
  std::thread thread_;  // last: starts when all members exist
};

}  // namespace headroom::live
