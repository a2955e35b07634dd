// The link between two pipes, with the test as an app that may read slowly.
#include "demos/engine/live/run/link.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "demos/engine/live/run/device_facts.h"
#include "demos/protocol/messages.h"
#include "demos/record/recording.h"
#include "tests/live/run_driver.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace std::chrono_literals;

constexpr int kPatience = 300'000;  // ms; messages normally arrive at once

struct RingEmptied {
  ~RingEmptied() {
    std::vector<record::MemEvent> events;
    tests::sink().ring().drain(events, tests::sink().ring().capacity());
  }
};

class LinkedWorker {
 public:
  LinkedWorker()
      : worker(live::EngineRole::kRunner, {.cpu = &tests::cpu_probe(), .meta = nullptr}, tests::sink(), feed,
               live::machine_facts(/*look_for_gpu=*/false), tests::text_to_train_on()) {
    REQUIRE(pipe2(to_link_.data(), O_CLOEXEC) == 0);
    REQUIRE(pipe2(from_link_.data(), O_CLOEXEC) == 0);
  }
  ~LinkedWorker() {
    stop();
    for (const int end : {to_link_[0], from_link_[0], from_link_[1]}) close(end);
  }
  LinkedWorker(const LinkedWorker&) = delete;
  LinkedWorker& operator=(const LinkedWorker&) = delete;

  void start() {
    thread_ = std::thread([this] {
      live::Link link(to_link_[0], from_link_[1], worker, feed, tests::sink());
      link.run({});
      rusage usage{};
      getrusage(RUSAGE_THREAD, &usage);
      waits_ = usage.ru_nvcsw;
    });
  }
  // Closes the app's end, which ends the link. Returns how often the link's thread slept.
  long stop() {
    if (to_link_[1] >= 0) close(to_link_[1]);
    to_link_[1] = -1;
    if (thread_.joinable()) thread_.join();
    return waits_;
  }
  void send(const protocol::Message& message) const {
    const std::vector<std::byte> bytes = protocol::encode(message);
    REQUIRE(write(to_link_[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  // False if fewer than `wanted` bytes came.
  bool reads(std::size_t wanted) {
    std::array<std::byte, 65'536> thrown_away;
    while (wanted > 0) {
      pollfd readable{.fd = from_link_[0], .events = POLLIN, .revents = 0};
      if (poll(&readable, 1, kPatience) <= 0) return false;
      const ssize_t count = read(from_link_[0], thrown_away.data(), std::min(wanted, thrown_away.size()));
      if (count <= 0) return false;
      wanted -= static_cast<std::size_t>(count);
    }
    return true;
  }
  // Returns nothing after kPatience.
  std::optional<protocol::Message> next() {
    std::vector<std::byte> body;
    while ((body = frames_.next()).empty()) {
      pollfd readable{.fd = from_link_[0], .events = POLLIN, .revents = 0};
      if (poll(&readable, 1, kPatience) <= 0) return std::nullopt;
      std::array<std::byte, 65'536> bytes;
      const ssize_t count = read(from_link_[0], bytes.data(), bytes.size());
      if (count <= 0) return std::nullopt;
      frames_.feed(std::span(bytes).first(static_cast<std::size_t>(count)));
    }
    auto message = protocol::decode(body);
    REQUIRE(message.ok());
    return std::move(message).value();
  }
  // Processor time of the link's thread.
  std::chrono::nanoseconds worked() {
    clockid_t clock{};
    timespec time{};
    REQUIRE(pthread_getcpuclockid(thread_.native_handle(), &clock) == 0);
    REQUIRE(clock_gettime(clock, &time) == 0);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  RingEmptied at_the_end;  // destroyed after the worker
  live::RunFeed feed;
  live::Worker worker;

 private:
  std::array<int, 2> to_link_{-1, -1}, from_link_{-1, -1};
  std::thread thread_;
  long waits_ = 0;
  protocol::FrameReader frames_;
};

// Incompressible text.
std::string noise(std::size_t size) {
  static std::mt19937 random(1);
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text(size, ' ');
  for (char& c : text) c = kLetters[random() % kLetters.size()];
  return text;
}

}  // namespace

TEST_CASE("more rows than fit into a chunk arrive in several chunks") {
  constexpr std::size_t kRows = record::kMostRowsInAChunk + 1000;
  LinkedWorker linked;
  linked.feed.begin(7);
  linked.feed.add(record::RunInfo{.demo = "train_step"});
  std::vector<record::Nanoseconds> times;
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto time = static_cast<record::Nanoseconds>(i);
    linked.feed.add(record::Mark{.host_time = time});
    linked.feed.add(record::MetricSample{.time = time, .value = 1});
    linked.feed.add(record::CounterSample{.time = time, .value = 1});
    times.push_back(time + 5);
  }
  linked.feed.add(times);
  std::thread finishing([&] { linked.feed.finish({}); });
  linked.start();
  record::Recording recording;
  bool finished = false;
  while (!finished) {
    const auto message = linked.next();
    if (!message) break;
    finished = std::holds_alternative<protocol::RunFinished>(*message);
    if (const auto* chunk = std::get_if<protocol::Chunk>(&*message)) CHECK(recording.append_chunk(chunk->bytes).ok());
  }
  linked.feed.close();
  finishing.join();
  REQUIRE(finished);
  REQUIRE(recording.marks().size() == kRows);
  CHECK(recording.marks().back().host_time == static_cast<record::Nanoseconds>(kRows) - 1);
  CHECK(recording.marks().back().device_time == recording.marks().back().host_time + 5);
  CHECK(recording.metrics().size() == kRows);
  CHECK(recording.counters().size() == kRows);
}

TEST_CASE("an app that does not read costs the link no processor time") {
  LinkedWorker linked;
  linked.start();
  linked.send(protocol::StartRun{
      .run = 1, .demo = "train_step", .params = {{"device", "cpu"}, {"batch", "1"}, {"seq", "8"}, {"steps", "10000"}}});
  // 72 MiB, about 54 MiB compressed; the link queues 32 MiB and polls every 30 ms.
  for (int i = 0; i < 48; ++i) {
    linked.feed.add(record::RunInfo{.demo = "train_step", .params = {{"data", noise(std::size_t{3} << 19)}}});
    std::this_thread::sleep_for(45ms);
  }
  const auto before = linked.worked();
  std::this_thread::sleep_for(1s);
  CHECK(linked.worked() - before < 50ms);
  CHECK(linked.reads(std::size_t{32} << 20));
}

TEST_CASE("the link sleeps again after a run that was cancelled before it started") {
  LinkedWorker linked;
  // The refusal is not yet sent, so the worker and the next run wait.
  REQUIRE(linked.worker.submit({.run = 1, .demo = "no_such_demo", .params = {}}).taken);
  pollfd told{.fd = linked.feed.wake_descriptor(), .events = POLLIN, .revents = 0};
  REQUIRE(poll(&told, 1, kPatience) == 1);
  linked.send(protocol::StartRun{.run = 2, .demo = "train_step", .params = {{"device", "cpu"}}});
  linked.send(protocol::Cancel{.run = 2});
  linked.start();
  bool cancelled = false;
  for (int finished = 0; finished < 2;) {
    const auto message = linked.next();
    REQUIRE(message);
    const auto* end = std::get_if<protocol::RunFinished>(&*message);
    if (end == nullptr) continue;
    ++finished;
    cancelled = cancelled || (end->run == 2 && end->outcome.kind == record::OutcomeKind::kCancelled);
  }
  CHECK(cancelled);
  std::this_thread::sleep_for(1s);
  CHECK(linked.stop() < 20);  // four heartbeats; polling would wake it 33 times per second
}
