// Handles frames, chunks and heartbeats.
#include "demos/engine/live/run/link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <span>
#include <system_error>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "demos/record/scope.h"

namespace headroom::live {

using namespace std::chrono_literals;
using protocol::Message;

namespace {

constexpr auto kForwardEvery = 30ms;
constexpr auto kBeatEvery = 250ms;
// 65,536 events are about 4 MiB before compression; a frame's limit is 16 MiB.
constexpr std::size_t kEventsInAChunk = 65'536;
// Limit on queued bytes if the app reads slowly; beyond it the ring fills up and drops events.
constexpr std::size_t kMostOutgoing = std::size_t{32} << 20;

constexpr int kBadInput = 50;  // exit code for broken frames

int milliseconds_until(std::chrono::steady_clock::time_point due) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::max<decltype(left)>(left, 0));
}

}  // namespace

Link::Link(int input, int output, Worker& worker, RunFeed& feed, EventSink& sink)
    : input_(input), output_(output), worker_(worker), feed_(feed), sink_(sink) {
  const int flags = fcntl(output_, F_GETFL);
  if (flags < 0 || fcntl(output_, F_SETFL, flags | O_NONBLOCK) < 0) {
    throw std::system_error(errno, std::generic_category(), "the engine's output");
  }
}

int Link::run(const protocol::Hello& hello) {
  send(hello);
  while (!exit_code_) {
    wait();
    const auto now = Clock::now();
    if (now >= next_forward_ && !full()) {
      forward();
      next_forward_ = now + kForwardEvery;
    }
    if (now >= next_beat_) {
      beat();
      next_beat_ = now + kBeatEvery;
    }
    write();
    if (worker_.retired() && run_ == 0 && outgoing_.empty()) exit_code_ = worker_.retired();
  }
  return *exit_code_;
}

void Link::wait() {
  constexpr int kNobody = -1;  // ignored by poll()
  // While the queue is full, only the app can make room.
  std::array<pollfd, 3> descriptors{
      pollfd{.fd = input_, .events = POLLIN, .revents = 0},
      pollfd{.fd = full() ? kNobody : feed_.wake_descriptor(), .events = POLLIN, .revents = 0},
      pollfd{.fd = output_, .events = POLLOUT, .revents = 0}};
  const bool writing = !outgoing_.empty();
  const auto due = run_ != 0 && !full() ? std::min(next_forward_, next_beat_) : next_beat_;
  if (poll(descriptors.data(), writing ? 3 : 2, milliseconds_until(due)) < 0) {
    if (errno == EINTR) return;
    throw std::system_error(errno, std::generic_category(), "poll");
  }
  if (descriptors[0].revents != 0) read();
  if (descriptors[1].revents != 0) next_forward_ = {};  // a run has finished
}

void Link::read() {
  std::array<std::byte, 65'536> bytes;
  const ssize_t count = ::read(input_, bytes.data(), bytes.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) {  // the app is gone
    exit_code_ = 0;
    return;
  }
  frames_.feed(std::span(bytes).first(static_cast<std::size_t>(count)));
  for (auto body = frames_.next(); !body.empty() && !exit_code_; body = frames_.next()) take(body);
  if (frames_.broken()) {
    send(protocol::Refusal{.run = 0, .reason = "The bytes are not frames: a length is more than 16 MiB."});
    write();
    exit_code_ = kBadInput;
  }
}

void Link::take(const std::vector<std::byte>& body) {
  const record::Result<Message> decoded = protocol::decode(body);
  if (!decoded) return send(protocol::Refusal{.run = 0, .reason = decoded.error().message});
  const Message& message = decoded.value();
  if (const auto* start = std::get_if<protocol::StartRun>(&message)) {
    take(*start);
  } else if (const auto* cancel = std::get_if<protocol::Cancel>(&message)) {
    take(*cancel);
  } else if (const auto* refusal = std::get_if<protocol::Refusal>(&message)) {
    std::fprintf(stderr, "The app refused a message: %s\n", refusal->reason.c_str());
  } else {
    send(protocol::Refusal{.run = 0, .reason = "This is a message that only an engine may send."});
  }
}

void Link::take(const protocol::StartRun& start) {
  if (start.run == 0) return send(protocol::Refusal{.run = 0, .reason = "A run needs a number other than 0."});
  if (worker_.retired()) return;  // this process ends; the app sends the request to the next one
  const Worker::Submitted submitted = worker_.submit(start);
  if (submitted.dropped) {
    send(protocol::RunFinished{.run = *submitted.dropped,
                               .outcome = {.kind = record::OutcomeKind::kCancelled,
                                           .message = "A newer request replaced this one.",
                                           .out_of_memory = {}}});
  }
  if (!submitted.taken) {
    return send(
        protocol::Refusal{.run = start.run, .reason = "A run is active: cancel it, or wait until it has finished."});
  }
  run_ = start.run;
  next_forward_ = Clock::now() + kForwardEvery;
}

void Link::take(const protocol::Cancel& cancel) {
  if (!worker_.cancel(cancel.run)) return;
  if (run_ == cancel.run) run_ = 0;
  send(protocol::RunFinished{
      .run = cancel.run,
      .outcome = {
          .kind = record::OutcomeKind::kCancelled, .message = "Cancelled before it started.", .out_of_memory = {}}});
}

void Link::forward() {
  // Takes the news first, so that the ring already has every event that precedes these marks.
  const RunNews news = feed_.take();
  if (news.info) {
    if (introduced_ != news.run) operators_next_ = 1;  // else `info` is an update
    introduced_ = news.run;
    send_chunk(news.run, record::encode(*news.info));
  }
  // Events of a run that began after take() wait until the run's info is sent.
  if (news.run != 0 && news.run == introduced_) forward_events(news.run, news.outcome.has_value());
  if (!news.rows.of<record::KernelSpan>().empty()) forward_operators(news.run);  // kernel names are operators, too
  record::for_each_row_kind([&](const auto& kind) {
    record::encode_chunks(news.rows.of<record::RowOf<decltype(kind)>>(),
                          [&](std::vector<std::byte> chunk) { send_chunk(news.run, std::move(chunk)); });
  });
  for (std::span<const record::Nanoseconds> rest(news.device_times); !rest.empty();) {  // after their marks
    const std::size_t count = std::min(rest.size(), record::kMostRowsInAChunk);
    send_chunk(news.run, record::encode_device_times(rest.first(count)));
    rest = rest.subspan(count);
  }
  if (news.dropped_spans != 0) send_chunk(news.run, record::encode_dropped(news.dropped_spans));
  if (news.kernel_report) send_chunk(news.run, record::encode(*news.kernel_report));
  if (news.progress) {
    protocol::Progress progress = *news.progress;
    progress.run = news.run;
    send(progress);
  }
  if (!news.outcome) return;
  send(protocol::RunFinished{.run = news.run, .outcome = *news.outcome});
  if (run_ == news.run) run_ = 0;
  feed_.finish_taken();
}

void Link::forward_events(std::uint64_t run, bool all) {
  do {
    events_.clear();
    sink_.ring().drain(events_, kEventsInAChunk);
    if (events_.empty()) break;
    forward_operators(run);  // after the drain, which may bring new operators
    send_chunk(run, record::encode_rows(events_));
  } while (events_.size() == kEventsInAChunk && (all || !full()));
  const std::uint64_t dropped = sink_.ring().dropped();
  if (dropped > dropped_sent_) {
    send_chunk(run, record::encode_dropped(dropped - dropped_sent_));
    dropped_sent_ = dropped;
  }
}

void Link::forward_operators(std::uint64_t run) {
  const std::uint16_t last = record::operator_count();
  if (last < operators_next_) return;
  std::vector<std::string> names;
  for (std::uint16_t op = operators_next_; op <= last; ++op) names.emplace_back(record::operator_name(op));
  send_chunk(run, record::encode_operators(operators_next_, names));
  operators_next_ = static_cast<std::uint16_t>(last + 1);
}

void Link::send_chunk(std::uint64_t run, std::vector<std::byte> chunk) {
  send(protocol::Chunk{.run = run, .bytes = std::move(chunk)});
}

bool Link::full() const { return outgoing_bytes_ >= kMostOutgoing; }

void Link::beat() { send(protocol::Heartbeat{.beats = worker_.beats(), .collectives = worker_.collectives()}); }

void Link::send(const Message& message) {
  outgoing_.push_back(protocol::encode(message));
  outgoing_bytes_ += outgoing_.back().size();
}

void Link::write() {
  while (!outgoing_.empty()) {
    const std::span<const std::byte> rest = std::span(outgoing_.front()).subspan(written_of_first_);
    const ssize_t count = ::write(output_, rest.data(), rest.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) exit_code_ = 0;  // the reader is gone
      return;
    }
    written_of_first_ += static_cast<std::size_t>(count);
    if (written_of_first_ < outgoing_.front().size()) return;
    outgoing_bytes_ -= outgoing_.front().size();
    outgoing_.pop_front();
    written_of_first_ = 0;
  }
}

}  // namespace headroom::live
