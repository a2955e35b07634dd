// The engine's side of the pipe. Makes no CUDA call, so it keeps running if the driver, the worker or the sampler
// hangs.
//
//   allocator → Probe → EventSink → ring ─┐
//                                         ├─ Link ── chunks, progress, outcome, heartbeat ──→ the app
//   Worker (run_demo), Sampler → RunFeed ─┘   │
//     ↑                                       │
//     └── start, cancel ──────────────────────┴──←── messages ──────────────────────────── the app
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/run/run_feed.h"
#include "demos/engine/live/run/worker.h"
#include "demos/protocol/messages.h"

namespace headroom::live {

class Link {
 public:
  // `output` becomes non-blocking.
  Link(int input, int output, Worker& worker, RunFeed& feed, EventSink& sink);

  // Runs until the app closes its end or sends broken frames, or the worker retires. Returns the exit code.
  int run(const protocol::Hello& hello);

 private:
  using Clock = std::chrono::steady_clock;

  void wait();
  void read();
  void take(const std::vector<std::byte>& body);
  void take(const protocol::StartRun& start);
  void take(const protocol::Cancel& cancel);

  void forward();
  // `all`: forwards even while full().
  void forward_events(std::uint64_t run, bool all);
  void forward_operators(std::uint64_t run);
  void send_chunk(std::uint64_t run, std::vector<std::byte> chunk);
  void beat();

  void send(const protocol::Message& message);
  void write();
  // True if the app must read before more of a run is queued.
  bool full() const;

  int input_;
  int output_;
  Worker& worker_;
  RunFeed& feed_;
  EventSink& sink_;

  protocol::FrameReader frames_;
  std::deque<std::vector<std::byte>> outgoing_;
  std::size_t outgoing_bytes_ = 0;
  std::size_t written_of_first_ = 0;
  std::optional<int> exit_code_;
  Clock::time_point next_forward_{};
  Clock::time_point next_beat_{};

  std::uint64_t run_ = 0;             // the accepted, unfinished run; 0: none
  std::uint64_t introduced_ = 0;      // run whose info was sent
  std::uint16_t operators_next_ = 1;  // first operator name to send; name 0 is "" in every recording
  std::uint64_t dropped_sent_ = 0;
  std::vector<record::MemEvent> events_;
};

}  // namespace headroom::live
