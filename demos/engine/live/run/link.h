// The engine's side of the pipe: messages in and out, the ring drained into chunks, and a heartbeat. Makes no CUDA
// call, so it goes on while the driver, the worker or the sampler hangs.
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
  // Reads frames from `input` and writes to `output`, which is set to never block.
  Link(int input, int output, Worker& worker, RunFeed& feed, EventSink& sink);

  // Until the app closes its end, sends what cannot be cut into frames, or the worker retires. Returns the process's
  // exit code.
  int run(const protocol::Hello& hello);

 private:
  using Clock = std::chrono::steady_clock;

  void wait();
  void read();
  void take(const std::vector<std::byte>& body);
  void take(const protocol::StartRun& start);
  void take(const protocol::Cancel& cancel);

  // Whatever the run has to report, as chunks.
  void forward();
  // What is in the ring; `all`: however much the app has not read yet.
  void forward_events(std::uint64_t run, bool all);
  void forward_operators(std::uint64_t run);
  void send_chunk(std::uint64_t run, std::vector<std::byte> chunk);
  void beat();

  void send(const protocol::Message& message);
  void write();
  // As much waits for the app as may: nothing more of a run is queued until it reads.
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

  std::uint64_t run_ = 0;             // taken and not finished; 0: none
  std::uint64_t introduced_ = 0;      // its info chunk is out
  std::uint16_t operators_next_ = 1;  // the first whose name is not out; 0 is "" in every recording
  std::uint64_t dropped_sent_ = 0;
  std::vector<record::MemEvent> events_;
};

}  // namespace headroom::live
