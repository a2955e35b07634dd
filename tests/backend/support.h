// Backends with the fake engine, and waiting for them.
#pragma once

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "demos/backend/backend.h"
#include "tests/backend/fake_run.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace headroom::tests {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// `pid`: of an engine that a test started.
inline bool alive(const std::string& pid) { return ::kill(std::stoi(pid), 0) == 0; }

inline backend::EngineCommand fake_engine(std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), FAKE_ENGINE);
  return {arguments};
}

inline constexpr record::ParamSpec kFakeParams[] = {
    {.key = "mode", .label = "Mode", .help = "How the run goes.", .kind = record::ParamKind::kFile}};

inline backend::RunRequest fake_request(const std::string& mode, std::optional<std::filesystem::path> record_to = {}) {
  record::Params params(kFakeParams);
  REQUIRE(params.set("mode", std::string_view(mode)).ok());
  return {.demo = "fake", .params = params, .record_to = std::move(record_to)};
}

// For events that take less than a second on an idle machine.
inline constexpr std::chrono::minutes kPatience{5};

// Polls until `done()`. Only the backend's descriptor wakes it, so a backend that needs a poll without signaling it
// times out.
inline bool wait_for(backend::Backend& backend, const std::function<bool()>& done,
                     Clock::duration patience = kPatience) {
  const auto deadline = Clock::now() + patience;
  backend.poll();
  while (!done()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd readable{.fd = backend.descriptor(), .events = POLLIN, .revents = 0};
    if (readable.fd < 0)
      std::this_thread::sleep_for(1ms);
    else if (::poll(&readable, 1, static_cast<int>(left)) == 0)
      return false;
    backend.poll();
  }
  return true;
}

inline bool finished(backend::Backend& backend, Clock::duration patience = kPatience) {
  return wait_for(
      backend, [&] { return backend.state() == backend::RunState::kFinished; }, patience);
}

inline const record::Outcome& outcome_of(const backend::Backend& backend) {
  REQUIRE(backend.recording());
  REQUIRE(backend.recording()->outcome());
  return *backend.recording()->outcome();
}

inline record::Outcome run_to_end(backend::Backend& backend, const std::string& mode) {
  const auto status = backend.start(fake_request(mode));
  INFO((status.ok() ? "" : status.error().message));
  REQUIRE(status.ok());
  REQUIRE(finished(backend));
  return outcome_of(backend);
}

inline void check_whole(const record::Recording& recording) {
  CHECK(recording.events().size() == kFakeParts * kEventsInAPart);
  CHECK(recording.marks().size() == kFakeParts);
  CHECK(recording.metrics().size() == kFakeParts);
  CHECK(recording.op_name(1) == "fake.op");
  for (std::size_t i = 0; i < recording.events().size(); ++i) REQUIRE(recording.events()[i].storage == i + 1);
}

}  // namespace headroom::tests
