// Lifetime of an engine process: start, greeting, messages in order, liveness, restart after a death, and giving up.
// It knows nothing about runs.
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

struct RefusedMessage {
  std::string reason;
};

// A new process has been started, unless the process was to live once or trouble() is set.
struct EngineDied {
  std::string how;        // "was killed by SIGKILL …"
  std::string last_line;  // "; its last line was …", or empty
  bool ordered = false;   // by terminate() or kill()
  bool retired = false;   // exited by itself after a run, because of that run's leftovers
};

inline std::string sentence_of(const EngineDied& died) { return "The engine " + died.how + died.last_line + "."; }

enum class Lifetime { kRestarted, kOnce };

using EngineEvent = std::variant<protocol::Message, RefusedMessage, EngineDied>;

class EngineProcess {
 public:
  explicit EngineProcess(EngineCommand command, Lifetime lifetime = Lifetime::kRestarted);

  // Events since the last call, in order, without greetings.
  std::vector<EngineEvent> poll(Clock::time_point now);
  // When to call poll() even if nothing arrives; always after `now`.
  std::optional<Clock::time_point> next_due(Clock::time_point now) const;
  void set_alarm(std::optional<Clock::time_point> due) { watch_.set_alarm(due); }
  int descriptor() const { return watch_.descriptor(); }

  // True if a run may be sent.
  bool ready() const { return greeted_ && !ordered_; }
  void send(const protocol::Message& message);
  // Reports to the engine that a message of `run` (0: no run) was rejected. Kills the engine after 100 refusals.
  void refuse(std::uint64_t run, const std::string& reason);
  void terminate();
  void kill();
  // After repeated deaths, starts an engine again once the waiting time has passed.
  void retry(Clock::time_point now);

  const std::optional<std::string>& trouble() const { return trouble_; }
  const std::vector<protocol::DeviceFacts>& devices() const { return devices_; }
  const std::map<std::string, std::string>& facts() const { return facts_; }
  // A sentence if the engine's revision differs from the app's.
  std::string other_build() const;
  // A sentence for the user while the engine is silent or its worker makes no progress.
  std::optional<std::string> silence(Clock::time_point now) const;
  // Collectives that the run had begun at the last heartbeat.
  std::uint64_t collectives() const { return collectives_; }
  // Restarts both timers of silence().
  void expect_work(Clock::time_point now) { heard_at_ = worked_at_ = now; }

 private:
  void start(Clock::time_point now);
  void take_messages(Clock::time_point now, std::vector<EngineEvent>& events);
  void greet(const protocol::Hello& hello);
  // Called if the program is no engine or one of another version, because restarting would not help.
  void give_up(std::string reason);
  void check_patience(Clock::time_point now);
  void bury(const Exit& exit, Clock::time_point now, std::vector<EngineEvent>& events);
  bool too_many_deaths(Clock::time_point now);

  EngineCommand command_;
  Lifetime lifetime_;
  Watch watch_;
  std::unique_ptr<ChildProcess> child_;
  protocol::FrameReader frames_;
  bool greeted_ = false;
  bool ordered_ = false;
  bool between_runs_ = false;  // no message since the last run finished
  std::string fault_;          // why we killed the process unasked
  std::uint64_t beats_ = 0, collectives_ = 0;
  int refusals_ = 0;
  Clock::time_point started_at_{}, heard_at_{}, worked_at_{};
  std::optional<Clock::time_point> closed_at_;
  std::deque<Clock::time_point> deaths_;
  std::optional<std::string> trouble_;
  bool hopeless_ = false;  // trouble that waiting does not fix
  std::vector<protocol::DeviceFacts> devices_;
  std::map<std::string, std::string> facts_;
};

}  // namespace headroom::backend
