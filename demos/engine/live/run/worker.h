// The thread that owns every tensor and stream: takes one run after another.
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
  // `course_text`: the text to train on where a run names none.
  Worker(EngineRole role, Probes probes, EventSink& sink, RunFeed& feed, MachineFacts facts,
         std::filesystem::path course_text);
  // Cancels and waits for the thread.
  ~Worker();

  // What became of a request to start.
  struct Submitted {
    bool taken = false;                    // false: a run is on
    std::optional<std::uint64_t> dropped;  // a planner's waiting question, replaced by this one
  };
  Submitted submit(protocol::StartRun start);
  // True: the run was still waiting and will not start. A running one stops at its next layer and finishes by itself.
  bool cancel(std::uint64_t run);

  // Grows while the worker does something: with every mark, and on the CPU with the thread's processor time, since one
  // product or the weights of a large model take a slow processor minutes. A thread that waits for a GPU spins and would
  // look busy for ever.
  std::uint64_t beats();
  // Set after a run that this process must not outlive, before that run's outcome is sent: the exit code.
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
  std::atomic<bool> computes_{false};
  std::atomic<std::uint64_t> tenths_{0};  // of a second of processor time, as of when it last counted
  std::atomic<bool> cancel_{false};
  std::atomic<int> retired_{0};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<protocol::StartRun> waiting_;
  std::optional<std::uint64_t> running_;
  bool stopping_ = false;
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace headroom::live
