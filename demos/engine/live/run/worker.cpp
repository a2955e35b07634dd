// Implements a queue of one run, and its thread.
#include "demos/engine/live/run/worker.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include <c10/core/AutogradState.h>

#include "demos/engine/live/run/run.h"
#include "demos/record/scope.h"

namespace headroom::live {

Worker::Worker(EngineRole role, Probes probes, EventSink& sink, RunFeed& feed, MachineFacts facts,
               std::filesystem::path course_text)
    : role_(role),
      probes_(probes),
      sink_(sink),
      feed_(feed),
      facts_(std::move(facts)),
      course_text_(std::move(course_text)),
      thread_([this] { work(); }) {}

Worker::~Worker() {
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
    cancel_ = true;
  }
  wake_.notify_all();
  feed_.close();
  thread_.join();
}

Worker::Submitted Worker::submit(protocol::StartRun start) {
  Submitted submitted;
  {
    std::lock_guard guard(mutex_);
    if ((running_ || waiting_) && role_ == EngineRole::kRunner) return submitted;
    submitted.taken = true;
    if (waiting_) submitted.dropped = waiting_->run;
    if (running_) cancel_ = true;
    waiting_ = std::move(start);
  }
  wake_.notify_all();
  return submitted;
}

bool Worker::cancel(std::uint64_t run) {
  std::lock_guard guard(mutex_);
  if (waiting_ && waiting_->run == run) {
    waiting_.reset();
    return true;
  }
  if (running_ == run) cancel_ = true;
  return false;
}

std::uint64_t Worker::beats() {
  clockid_t clock = 0;
  timespec spent{};
  if (computes_ && pthread_getcpuclockid(thread_.native_handle(), &clock) == 0 && clock_gettime(clock, &spent) == 0) {
    tenths_ = static_cast<std::uint64_t>(spent.tv_sec) * 10 + static_cast<std::uint64_t>(spent.tv_nsec / 100'000'000);
  }
  return beats_ + tenths_;
}

std::optional<int> Worker::retired() const {
  const int code = retired_.load();
  return code == 0 ? std::nullopt : std::optional(code);
}

void Worker::work() {
  record::become_worker_thread();
  // The backward pass runs here, too: one allocating thread, one cuBLAS workspace.
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  Machine machine(role_, probes_, sink_, facts_);
  while (true) {
    protocol::StartRun start;
    {
      std::unique_lock guard(mutex_);
      wake_.wait(guard, [this] { return stopping_ || waiting_; });
      if (stopping_) return;
      start = std::move(*waiting_);
      waiting_.reset();
      running_ = start.run;
      cancel_ = false;
    }
    collectives_ = 0;
    feed_.begin(start.run);
    RunResult result = run_demo(start, {.machine = machine,
                                        .sink = sink_,
                                        .feed = feed_,
                                        .course_text = course_text_,
                                        .cancel = cancel_,
                                        .beats = beats_,
                                        .collectives = collectives_,
                                        .computes = computes_});
    computes_ = false;
    if (result.retire) retired_ = *result.retire;
    {
      // This precedes the outcome, whose receiver may start another run.
      std::lock_guard guard(mutex_);
      running_.reset();
    }
    feed_.finish(std::move(result.outcome));
  }
}

}  // namespace headroom::live
