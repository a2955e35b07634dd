// Runs in an engine process: one at a time, chunks appended to a growing recording, cancellation with escalation. With
// a planner, a new request replaces the previous one, and recordings are predictions.
#include "demos/backend/engine_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "demos/backend/run_file.h"

namespace headroom::backend {

using namespace std::chrono_literals;
using record::Outcome;
using record::OutcomeKind;
using record::Recording;
using record::Status;

namespace {

// Time before SIGTERM, and between SIGTERM and SIGKILL.
constexpr auto kCancelPatience = 2s;
constexpr auto kTerminatePatience = 3s;
constexpr auto kSilenceCheck = 1s;

struct Cancellation {
  std::uint64_t run = 0;  // the newest cancelled run
  Clock::time_point due;  // when to escalate
  bool terminated = false;
};

enum class Role { kRunner, kPlanner, kRank };

// LD_PRELOAD for the planner: the libraries in planner/ next to the program, then our own LD_PRELOAD. Empty without
// such libraries, and for a remote program.
std::string planner_libraries(const EngineCommand& command) {
  namespace fs = std::filesystem;
  if (command.arguments.size() != 1 || std::getenv("LD_BIND_NOW") != nullptr) return {};  // ssh HOST …
  std::string all;
  std::error_code none;
  for (const fs::directory_entry& file :
       fs::directory_iterator(fs::path(command.arguments[0]).parent_path() / "planner", none))
    all += (all.empty() ? "" : ":") + file.path().string();
  const char* const before = std::getenv("LD_PRELOAD");
  if (!all.empty() && before != nullptr && *before != 0) all += std::string(":") + before;
  return all;
}

class EngineBackend final : public RankEngine {
 public:
  EngineBackend(EngineCommand command, Role role, RankInGroup in_group = {})
      : engine_(std::move(command), role == Role::kRank ? Lifetime::kOnce : Lifetime::kRestarted),
        role_(role),
        in_group_(std::move(in_group)) {}

  Status start(const RunRequest& request) override;
  void cancel() override;
  bool poll() override;

  RunState state() const override { return state_; }
  const RunProgress& progress() const override { return progress_; }
  std::shared_ptr<const Recording> recording() const override { return recording_; }
  const std::optional<record::Error>& write_error() const override { return file_.error(); }
  const std::vector<protocol::DeviceFacts>& devices() const override { return engine_.devices(); }
  const std::map<std::string, std::string>& facts() const override { return engine_.facts(); }
  const std::optional<std::string>& trouble() const override { return engine_.trouble(); }
  int descriptor() const override { return engine_.descriptor(); }

  void end(Outcome outcome) override;
  const std::optional<EngineDied>& death() const override { return death_; }
  std::uint64_t collectives() const override { return engine_.collectives(); }
  std::optional<std::string> silence() const override;
  void set_other_ranks(std::vector<std::shared_ptr<const Recording>> others) override {
    recording_->set_other_ranks(std::move(others));
  }

 private:
  bool active() const { return state_ != RunState::kIdle && state_ != RunState::kFinished; }
  bool ours(std::uint64_t run) const { return active() && run == run_; }

  void take(const protocol::Message& message) {
    std::visit([&](const auto& what) { take(what); }, message);
  }
  template <class Other>
  void take(const Other&) {}  // EngineProcess handles the other messages
  void take(const protocol::Chunk& chunk);
  void take(const protocol::Progress& progress);
  void take(const protocol::RunFinished& finished);
  void take(const protocol::Refusal& refusal);
  void take(const RefusedMessage& refused);
  void take(const EngineDied& died);

  void prepare();  // creates the recording for request_; sends it if the engine is ready
  void send_start();
  void running();
  void keep(std::span<const std::byte> chunk);
  void finish(Outcome outcome);
  void conclude(Outcome outcome);
  void stopped(std::uint64_t run);
  void ask_to_stop(Clock::time_point now);
  void escalate(Clock::time_point now);
  std::optional<Clock::time_point> deadline() const;
  void check_deadline(Clock::time_point now);
  bool show_doing();
  void set_alarm(Clock::time_point now);

  EngineProcess engine_;
  Role role_;
  RankInGroup in_group_;
  RunState state_ = RunState::kIdle;
  std::uint64_t run_ = 0;
  RunRequest request_;
  bool sent_ = false;
  RunProgress progress_;
  std::string doing_;  // the engine's text; progress_.doing may report silence instead
  std::shared_ptr<Recording> recording_;
  RunFile file_;
  std::size_t chunks_ = 0;
  std::string first_refused_;  // why a message of this run was rejected
  std::optional<Cancellation> cancellation_;
  std::optional<EngineDied> death_;
  std::optional<Clock::time_point> moved_at_;  // time of the last progress, once steps have begun
};

Status EngineBackend::start(const RunRequest& request) {
  const auto now = Clock::now();
  if (active() && role_ != Role::kPlanner)
    return record::Error{"A run is active: cancel it, or wait until it has finished.", record::ErrorKind::kRefused};
  engine_.retry(now);
  if (engine_.trouble()) return record::Error{*engine_.trouble(), record::ErrorKind::kEngine};
  if (active() && sent_) ask_to_stop(now);

  request_ = request;
  prepare();
  set_alarm(now);
  return record::Ok{};
}

void EngineBackend::prepare() {
  ++run_;
  sent_ = false;
  first_refused_.clear();
  moved_at_.reset();
  recording_ = std::make_shared<Recording>(record::RunInfo{
      .demo = request_.demo,
      .params = request_.params.to_map(),
      .provenance = engine_.facts(),
      .device = request_.device,
      .source = role_ == Role::kPlanner ? record::Source::kPredicted : record::Source::kLive,
      .rank = in_group_.rank,
      .ranks = in_group_.ranks,
  });
  file_.begin(request_.record_to);
  chunks_ = 0;
  state_ = RunState::kStarting;
  doing_ = engine_.ready() ? "starting the run" : "starting the engine";
  progress_ = {.doing = doing_};
  if (engine_.ready()) send_start();
}

void EngineBackend::send_start() {
  sent_ = true;
  doing_ = "starting the run";
  engine_.expect_work(Clock::now());
  engine_.send(protocol::StartRun{
      .run = run_, .demo = request_.demo, .params = request_.params.to_map(), .record = request_.record});
}

void EngineBackend::cancel() {
  if (!active() || state_ == RunState::kCancelling) return;
  if (!sent_) return finish({.kind = OutcomeKind::kCancelled, .message = "Cancelled before the engine was ready."});
  const auto now = Clock::now();
  state_ = RunState::kCancelling;
  doing_ = "stopping";
  ask_to_stop(now);
  show_doing();
  set_alarm(now);
}

void EngineBackend::ask_to_stop(Clock::time_point now) {
  engine_.send(protocol::Cancel{run_});
  // An older cancel keeps its timer until it is answered; then the new cancel gets its own timer.
  if (!cancellation_) cancellation_ = Cancellation{.due = now + kCancelPatience};
  cancellation_->run = run_;
}

void EngineBackend::escalate(Clock::time_point now) {
  if (!cancellation_ || now < cancellation_->due) return;
  if (cancellation_->terminated) {
    engine_.kill();
  } else {
    engine_.terminate();
    cancellation_->terminated = true;
  }
  cancellation_->due = now + kTerminatePatience;
}

std::optional<Clock::time_point> EngineBackend::deadline() const {
  return active() && request_.engine.patience && moved_at_ ? std::optional(*moved_at_ + *request_.engine.patience)
                                                           : std::nullopt;
}

void EngineBackend::check_deadline(Clock::time_point now) {
  if (!deadline() || now < *deadline()) return;
  engine_.kill();
  cancellation_.reset();
  finish({.kind = OutcomeKind::kFailed,
          .message = fmt::format("The run made no progress for {} s, perhaps because of an infinite loop. Its engine "
                                 "was killed; the next run starts a new one.",
                                 request_.engine.patience->count())});
}

bool EngineBackend::poll() {
  const auto now = Clock::now();
  const bool was_ready = engine_.ready();
  const bool had_trouble = engine_.trouble().has_value();
  const auto events = engine_.poll(now);
  for (const EngineEvent& event : events) std::visit([&](const auto& what) { take(what); }, event);
  if (active() && !sent_ && engine_.ready()) send_start();
  if (active() && engine_.trouble()) finish({.kind = OutcomeKind::kEngineLost, .message = *engine_.trouble()});
  escalate(now);
  check_deadline(now);
  const bool said = show_doing();
  set_alarm(now);
  return !events.empty() || said || was_ready != engine_.ready() || had_trouble != engine_.trouble().has_value();
}

void EngineBackend::take(const protocol::Chunk& chunk) {
  if (!ours(chunk.run)) return;
  running();
  ++chunks_;
  if (const Status status = recording_->append_chunk(chunk.bytes); !status) {
    engine_.refuse(run_, status.error().message);
    // Without its first chunk, which describes the run, a file cannot be read.
    if (chunks_ == 1) keep(record::encode(recording_->info()));
    return take(RefusedMessage{status.error().message});
  }
  if (role_ == Role::kPlanner) recording_->set_source(record::Source::kPredicted);
  keep(chunk.bytes);
}

void EngineBackend::keep(std::span<const std::byte> chunk) {
  file_.append(chunk);
  if (in_group_.take_chunk) in_group_.take_chunk(chunk);
}

void EngineBackend::take(const protocol::Progress& progress) {
  if (!ours(progress.run)) return;
  running();
  std::string shown = std::move(progress_.doing);  // kept until show_doing()
  progress_ = progress;
  progress_.doing = std::move(shown);
  if (state_ != RunState::kCancelling) doing_ = progress.doing;
  if (progress.steps > 0) moved_at_ = Clock::now();
}

void EngineBackend::take(const protocol::RunFinished& finished) {
  stopped(finished.run);
  if (!ours(finished.run)) return;
  Outcome outcome = finished.outcome;
  // After a rejected message all totals are wrong, so the recording must not count as complete.
  if (!first_refused_.empty())
    outcome = {.kind = OutcomeKind::kFailed,
               .message = "The recording has a gap, because a message from the engine was invalid: " + first_refused_};
  finish(std::move(outcome));
}

void EngineBackend::take(const protocol::Refusal& refusal) {
  // Run 0 means that the engine could not read the start message.
  const bool start_unread = refusal.run == 0 && state_ == RunState::kStarting && sent_;
  if (ours(refusal.run) || start_unread) finish({.kind = OutcomeKind::kRefused, .message = refusal.reason});
}

void EngineBackend::take(const RefusedMessage& refused) {
  if (active() && sent_ && first_refused_.empty()) first_refused_ = refused.reason;
}

void EngineBackend::take(const EngineDied& died) {
  const bool cancelled = cancellation_ && cancellation_->run == run_;
  cancellation_.reset();
  death_ = died;
  if (!active()) return;
  if (!sent_ && role_ != Role::kRank) return;  // an unsent run goes to the new engine
  if ((!died.ordered && !died.retired) || (role_ == Role::kRank && !cancelled))
    finish({.kind = OutcomeKind::kEngineLost, .message = sentence_of(died)});
  else if (cancelled)
    finish({.kind = OutcomeKind::kCancelled, .message = "Cancelled. Its engine ended, and a new one was started."});
  else
    prepare();  // the previous run ended the old engine; the new engine takes this run
}

void EngineBackend::running() {
  if (state_ == RunState::kStarting) state_ = RunState::kRunning;
  // Any message about this run means that the previous one has stopped.
  if (cancellation_ && cancellation_->run != run_) stopped(cancellation_->run);
}

void EngineBackend::stopped(std::uint64_t run) {
  if (!cancellation_ || cancellation_->terminated) return;
  if (cancellation_->run == run)
    cancellation_.reset();
  else
    cancellation_->due = Clock::now() + kCancelPatience;
}

void EngineBackend::finish(Outcome outcome) {
  stopped(run_);
  // An engine from another build may not know the demo or a parameter.
  const std::string other_build = engine_.other_build();
  if (!other_build.empty() && (outcome.kind == OutcomeKind::kRefused || !first_refused_.empty()))
    outcome.message += " " + other_build;
  conclude(std::move(outcome));
}

void EngineBackend::conclude(Outcome outcome) {
  if (outcome.kind == OutcomeKind::kCompleted) progress_.fraction = 1;
  progress_.time_left = -1;
  doing_ = progress_.doing = "";
  file_.end(std::span(&outcome, 1));
  recording_->set_outcome(std::move(outcome));
  state_ = RunState::kFinished;
}

void EngineBackend::end(Outcome outcome) {
  engine_.kill();
  cancellation_.reset();
  conclude(std::move(outcome));
}

std::optional<std::string> EngineBackend::silence() const {
  return active() && sent_ ? engine_.silence(Clock::now()) : std::nullopt;
}

bool EngineBackend::show_doing() {
  std::string doing = silence().value_or(doing_);
  if (doing == progress_.doing) return false;
  progress_.doing = std::move(doing);
  return true;
}

void EngineBackend::set_alarm(Clock::time_point now) {
  std::optional<Clock::time_point> due = engine_.next_due(now);
  const auto earliest = [&](Clock::time_point time) { due = due ? std::min(*due, time) : time; };
  if (cancellation_) earliest(cancellation_->due);
  if (deadline()) earliest(*deadline());
  if (active()) earliest(now + kSilenceCheck);
  engine_.set_alarm(due);
}

}  // namespace

std::unique_ptr<Backend> make_engine_backend(EngineCommand command) {
  return std::make_unique<EngineBackend>(std::move(command), Role::kRunner);
}

std::unique_ptr<RankEngine> make_rank_engine(EngineCommand command, RankInGroup in_group) {
  return std::make_unique<EngineBackend>(std::move(command), Role::kRank, std::move(in_group));
}

std::unique_ptr<Backend> make_prediction(EngineCommand command) {
  if (const std::string loaded = planner_libraries(command); !loaded.empty())
    command.environment.push_back("LD_PRELOAD=" + loaded);
  command.arguments.emplace_back("--plan");
  return std::make_unique<EngineBackend>(std::move(command), Role::kPlanner);
}

}  // namespace headroom::backend
