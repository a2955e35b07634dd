// An engine's process from start to death and the next start: greeting, messages in order, signs of life, and when to
// stop trying. It knows nothing of runs.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "demos/backend/backend.h"
#include "demos/backend/child_process.h"
#include "demos/protocol/messages.h"

namespace headroom::backend {

// A message of the engine that could not be taken, and why. The engine got a refusal.
struct RefusedMessage {
  std::string reason;
};

// The process ended; a fresh one has been started unless there is trouble.
struct EngineDied {
  std::string sentence;  // "The engine was killed by SIGKILL …"
  bool ordered = false;  // by terminate() or kill()
  bool retired = false;  // by itself after a run, because of what that run left behind
};

using EngineEvent = std::variant<protocol::Message, RefusedMessage, EngineDied>;

class EngineProcess {
 public:
  explicit EngineProcess(EngineCommand command);

  // What has happened since the last call, in order. Greetings are kept here.
  std::vector<EngineEvent> poll(Clock::time_point now);
  // When poll() must be called even though nothing arrives. Always after `now`.
  std::optional<Clock::time_point> next_due(Clock::time_point now) const;
  void set_alarm(std::optional<Clock::time_point> due) { watch_.set_alarm(due); }
  int descriptor() const { return watch_.descriptor(); }

  // It has greeted and is not on its way out: a run may be sent.
  bool ready() const { return greeted_ && !ordered_; }
  void send(const protocol::Message& message);
  // Sends the engine a refusal: a message of this run (0: of none) could not be taken. An engine that keeps sending
  // such messages is ended.
  void refuse(std::uint64_t run, const std::string& reason);
  void terminate();
  void kill();
  // After trouble that time heals (deaths in a row), starts an engine again once that time has passed.
  void retry(Clock::time_point now);

  const std::optional<std::string>& trouble() const { return trouble_; }
  const std::vector<protocol::DeviceFacts>& devices() const { return devices_; }
  const std::map<std::string, std::string>& facts() const { return facts_; }
  // A sentence where this engine was built from another revision than the app; empty where not, or not known.
  std::string other_build() const;
  // A sentence for the user while the engine is silent, or its worker idle; empty otherwise.
  std::optional<std::string> silence(Clock::time_point now) const;
  // From here on the worker is expected to do something.
  void expect_work(Clock::time_point now) { heard_at_ = worked_at_ = now; }

 private:
  void start(Clock::time_point now);
  void take_messages(Clock::time_point now, std::vector<EngineEvent>& events);
  void greet(const protocol::Hello& hello);
  // It is no engine, or one of another version: starting it again would change nothing.
  void give_up(std::string reason);
  void check_patience(Clock::time_point now);
  void bury(const Exit& exit, Clock::time_point now, std::vector<EngineEvent>& events);
  bool too_many_deaths(Clock::time_point now);

  EngineCommand command_;
  Watch watch_;
  std::unique_ptr<ChildProcess> child_;
  protocol::FrameReader frames_;
  bool greeted_ = false;
  bool ordered_ = false;       // the end of this process is our doing
  bool between_runs_ = false;  // it has finished a run and not shown a sign of another
  std::string fault_;          // why we killed this process without a request
  std::uint64_t beats_ = 0;
  int refusals_ = 0;
  Clock::time_point started_at_{}, heard_at_{}, worked_at_{};
  std::optional<Clock::time_point> closed_at_;  // its stdout
  std::deque<Clock::time_point> deaths_;
  std::optional<std::string> trouble_;
  bool hopeless_ = false;  // trouble that time does not heal
  std::vector<protocol::DeviceFacts> devices_;
  std::map<std::string, std::string> facts_;
};

}  // namespace headroom::backend
