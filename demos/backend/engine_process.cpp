#include "demos/backend/engine_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "demos/record/text.h"
#include "headroom_build.h"

namespace headroom::backend {

using namespace std::chrono_literals;
using protocol::Message;

namespace {

// After three deaths in two minutes a fourth start will not help.
constexpr std::size_t kMaxDeaths = 3;
constexpr auto kDeathWindow = 2min;
// Loading LibTorch from a cold disk takes about 20 s.
constexpr auto kGreetingPatience = 90s;
// The process still cleans up after closing stdout.
constexpr auto kClosedPatience = 2s;
// Heartbeats come every 250 ms; a swapping machine may miss some.
constexpr auto kSilence = 3s;
// Building a model of 8 billion parameters takes many seconds without a sign of progress.
constexpr auto kIdleWorker = 30s;
constexpr auto kCheckEvery = 50ms;
// Unread refusals must not fill our memory.
constexpr int kMostRefusals = 100;

bool comes_from_engine(const Message& message) {
  return !std::holds_alternative<protocol::StartRun>(message) && !std::holds_alternative<protocol::Cancel>(message) &&
         !std::holds_alternative<protocol::Hello>(message);
}

// The library in the dynamic loader's message; empty if the line is another message.
std::string missing_library(std::string_view line) {
  constexpr std::string_view kBefore = "error while loading shared libraries: ";
  const std::size_t at = line.find(kBefore);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + kBefore.size());
  return record::printable(rest.substr(0, rest.find(':')));
}

long seconds(Clock::duration duration) {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

}  // namespace

EngineProcess::EngineProcess(EngineCommand command, Lifetime lifetime)
    : command_(std::move(command)), lifetime_(lifetime) {
  start(Clock::now());
}

void EngineProcess::start(Clock::time_point now) {
  frames_ = {};
  greeted_ = ordered_ = between_runs_ = false;
  fault_.clear();
  refusals_ = 0;
  closed_at_.reset();
  started_at_ = heard_at_ = worked_at_ = now;
  // Waiting OpenMP threads spin by default and would take the window's cores.
  std::vector<std::string> environment{"OMP_WAIT_POLICY=passive"};
  environment.insert(environment.end(), command_.environment.begin(), command_.environment.end());
  auto child = ChildProcess::start(command_.arguments, environment, watch_);
  if (child)
    child_ = std::move(child).value();
  else
    give_up("The engine " + child.error().message + ". Build it with ./run, or name another one with --engine.");
}

void EngineProcess::give_up(std::string reason) {
  trouble_ = std::move(reason);
  hopeless_ = true;
  child_.reset();
  greeted_ = false;
}

void EngineProcess::retry(Clock::time_point now) {
  if (!trouble_ || hopeless_ || too_many_deaths(now)) return;
  trouble_.reset();
  start(now);
}

void EngineProcess::send(const Message& message) {
  // If the write fails, the engine has died; poll() will report it.
  if (child_) child_->write(protocol::encode(message));
}

void EngineProcess::terminate() {
  ordered_ = true;
  if (child_) child_->terminate();
}

void EngineProcess::kill() {
  ordered_ = true;
  if (child_) child_->kill();
}

std::vector<EngineEvent> EngineProcess::poll(Clock::time_point now) {
  std::vector<EngineEvent> events;
  if (!child_) return events;
  child_->flush();
  // Checked before reading, so that the pipe already contains all that an ended process wrote; one read empties it.
  const std::optional<Exit> ended = child_->ended();
  take_messages(now, events);
  if (child_ && ended)
    bury(*ended, now, events);
  else if (child_)
    check_patience(now);
  return events;
}

void EngineProcess::take_messages(Clock::time_point now, std::vector<EngineEvent>& events) {
  const auto pass_over = [&](std::string reason) {
    refuse(0, reason);
    events.emplace_back(RefusedMessage{std::move(reason)});
  };
  frames_.feed(child_->read());
  for (auto body = frames_.next(); child_ && fault_.empty() && !body.empty(); body = frames_.next()) {
    heard_at_ = now;
    auto decoded = protocol::decode(body);
    const auto* hello = decoded ? std::get_if<protocol::Hello>(&decoded.value()) : nullptr;
    if (!greeted_ && hello)
      greet(*hello);
    else if (!greeted_)
      give_up("The program " + command_.arguments.front() + " is not an engine of this version (" +
              (decoded ? "its first message is not a greeting" : decoded.error().message) +
              "); rebuild both with ./run.");
    else if (!decoded)
      pass_over(decoded.error().message);
    else if (!comes_from_engine(decoded.value()))
      pass_over("a message that only the app may send, or a second greeting");
    else {
      const auto* heartbeat = std::get_if<protocol::Heartbeat>(&decoded.value());
      if (!heartbeat || std::exchange(beats_, heartbeat->beats) != heartbeat->beats) worked_at_ = now;
      if (heartbeat) collectives_ = heartbeat->collectives;
      if (heartbeat) continue;
      between_runs_ = std::holds_alternative<protocol::RunFinished>(decoded.value());
      events.emplace_back(std::move(decoded).value());
    }
  }
  if (!child_ || !frames_.broken() || !fault_.empty()) return;
  if (!greeted_)
    give_up("The program " + command_.arguments.front() +
            " does not behave like an engine; name another one with --engine.");
  else {
    fault_ = "sent bytes that are not a message and was stopped";
    child_->kill();
  }
}

void EngineProcess::greet(const protocol::Hello& hello) {
  greeted_ = true;
  devices_ = hello.devices;
  facts_ = hello.facts;
  facts_["pid"] = std::to_string(hello.pid);
}

void EngineProcess::refuse(std::uint64_t run, const std::string& reason) {
  if (!child_ || !fault_.empty()) return;
  send(protocol::Refusal{.run = run, .reason = reason});
  if (++refusals_ < kMostRefusals) return;
  fault_ = fmt::format("sent {} invalid messages and was stopped", kMostRefusals);
  child_->kill();
}

std::string EngineProcess::other_build() const {
  const std::string revision = record::fact_of(facts_, "revision", build::revision());
  if (revision == build::revision()) return {};
  return fmt::format("App ({}) and engine ({}) come from different builds; rebuild both with ./run.", build::revision(),
                     revision);
}

void EngineProcess::check_patience(Clock::time_point now) {
  if (child_->output_closed() && !closed_at_) closed_at_ = now;
  if (!fault_.empty()) return;
  if (!greeted_ && now - started_at_ > kGreetingPatience)
    fault_ = fmt::format("did not answer for {} s and was stopped", seconds(kGreetingPatience));
  else if (closed_at_ && now - *closed_at_ > kClosedPatience)
    fault_ = "closed its output and was stopped";
  if (!fault_.empty()) child_->kill();
}

void EngineProcess::bury(const Exit& exit, Clock::time_point now, std::vector<EngineEvent>& events) {
  EngineDied died{.how = fault_.empty() ? exit.as_text() : fault_,
                  .last_line = child_->last_error_line(),
                  .ordered = ordered_,
                  .retired = !ordered_ && between_runs_ && exit.signal == 0 && fault_.empty()};
  const std::string missing = missing_library(child_->last_error_line());
  if (!died.last_line.empty()) died.last_line = "; its last line was " + record::quoted(died.last_line);
  child_.reset();
  greeted_ = false;
  if (!died.ordered && !died.retired) deaths_.push_back(now);
  events.emplace_back(died);
  if (lifetime_ == Lifetime::kOnce) return;
  if (!missing.empty())  // a new engine would miss it as well
    give_up(
        fmt::format("The engine cannot start, because the library {} is missing. Install it, or build Headroom "
                    "again with ./run.",
                    missing));
  else if (too_many_deaths(now))
    trouble_ =
        fmt::format("The engine died {} times in two minutes, so no new one is started. Try again in two minutes. {}",
                    kMaxDeaths, sentence_of(died));
  else
    start(now);
}

bool EngineProcess::too_many_deaths(Clock::time_point now) {
  while (!deaths_.empty() && now - deaths_.front() > kDeathWindow) deaths_.pop_front();
  return deaths_.size() >= kMaxDeaths;
}

std::optional<std::string> EngineProcess::silence(Clock::time_point now) const {
  if (now - heard_at_ > kSilence) return fmt::format("the engine has sent nothing for {} s", seconds(now - heard_at_));
  if (now - worked_at_ > kIdleWorker)
    return fmt::format("the engine answers, but its work has made no progress for {} s", seconds(now - worked_at_));
  return std::nullopt;
}

std::optional<Clock::time_point> EngineProcess::next_due(Clock::time_point now) const {
  if (!child_ || (greeted_ && !closed_at_)) return std::nullopt;
  return now + kCheckEvery;
}

}  // namespace headroom::backend
