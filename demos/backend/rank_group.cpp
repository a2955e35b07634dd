// Starts, watches and ends the engines of a run's ranks.
#include "demos/backend/rank_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "demos/backend/child_process.h"
#include "demos/backend/engine_backend.h"
#include "demos/backend/run_file.h"
#include "demos/nvml/nvml.h"
#include "demos/record/file/split.h"

namespace headroom::backend {

using namespace std::chrono_literals;
using record::Outcome;
using record::OutcomeKind;
using record::Recording;
using record::Status;

namespace {

// A rank that reports a closed connection may do so before this process notices the death that caused it.
constexpr auto kEchoPatience = 1s;

constexpr const char* kOthersStopped = "; the other ranks were stopped.";

// Steps are counted from 1, as in progress(). "in step 4, layer 7, backward"; a rank has queued a whole step before its
// GPU has run it.
std::string last_place(const Recording& recording) {
  const auto& marks = recording.marks();
  if (marks.empty()) return "at its start";
  const record::Mark& mark = marks.back();
  if (mark.step < 0) {
    const auto queued =
        std::find_if(marks.rbegin(), marks.rend(), [](const record::Mark& each) { return each.step >= 0; });
    if (queued != marks.rend()) return fmt::format("at the end of step {}", queued->step + 1);
  }
  std::string place = "in ";
  if (mark.step >= 0) place += fmt::format("step {}, ", mark.step + 1);
  if (mark.layer != record::kNoLayer) place += fmt::format("layer {}, ", mark.layer);
  return place + std::string(record::label_of(mark.phase));
}

// On the clock that the ranks of a host share.
record::Nanoseconds last_mark_time(const Recording& recording) {
  if (recording.marks().empty()) return -record::kMostTime;
  return recording.info().clock_start + recording.marks().back().host_time;
}

// The lowest of the failures that are noticed together is the cause of the others.
int severity(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kOutOfMemory:
      return 0;
    case OutcomeKind::kEngineLost:
      return 1;
    case OutcomeKind::kRefused:
      return 2;
    default:
      return 3;
  }
}

std::string without_period(std::string_view sentence) {
  return std::string(sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence);
}

class RankGroup final : public Backend {
 public:
  RankGroup(EngineCommand command, int ranks, std::function<int()> gpus)
      : command_(std::move(command)),
        gpus_(std::move(gpus)),
        recordings_(static_cast<std::size_t>(std::max(ranks, 1))) {}

  Status start(const RunRequest& request) override;
  void cancel() override;
  bool poll() override;

  RunState state() const override { return state_; }
  const RunProgress& progress() const override { return progress_; }
  std::shared_ptr<const Recording> recording() const override { return recordings_.front(); }
  int ranks() const override { return static_cast<int>(recordings_.size()); }
  const std::optional<record::Error>& write_error() const override { return file_.error(); }
  const std::vector<protocol::DeviceFacts>& devices() const override { return machine_.devices; }
  const std::map<std::string, std::string>& facts() const override { return machine_.facts; }
  const std::optional<std::string>& trouble() const override {
    static const std::optional<std::string> none;
    return none;
  }
  int descriptor() const override { return watch_.descriptor(); }

 private:
  // The progress of a rank, to compare with earlier progress.
  using Signs = std::tuple<std::size_t, std::size_t, std::int32_t, double>;

  record::Result<RunRequest> with_device(const RunRequest& request) const;
  record::Result<EngineCommand> command_of(int rank, record::DeviceKind device) const;
  Status start_engine(int rank, const RunRequest& request);
  void stop_engines();

  void settle(Clock::time_point now);
  std::optional<std::size_t> failed_rank(Clock::time_point now);
  bool all_finished() const;
  const Outcome& outcome_of(std::size_t rank) const { return *recordings_[rank]->outcome(); }
  bool finished(std::size_t rank) const { return engines_[rank]->state() == RunState::kFinished; }
  Outcome failure_of(std::size_t rank) const;
  Outcome cancelled() const;
  void end_with(const Outcome& outcome);
  void end(const std::vector<Outcome>& outcomes);
  void update();
  std::optional<Clock::time_point> deadline() const;
  std::size_t slowest_rank() const;
  Outcome stuck() const;

  EngineCommand command_;
  std::function<int()> gpus_;
  Watch watch_;
  RunFile file_;
  std::vector<std::shared_ptr<const Recording>> recordings_;  // one per rank; null before the first run
  RunState state_ = RunState::kIdle;
  RunProgress progress_;
  Machine machine_;
  std::optional<std::chrono::seconds> patience_;
  std::vector<Signs> signs_;
  std::optional<Clock::time_point> moved_at_;  // time of the last progress, once steps have begun
  std::vector<std::size_t> failed_;            // ranks, in order of arrival
  Clock::time_point failed_at_{};
  std::optional<PrivateFolder> store_;
  std::vector<std::unique_ptr<RankEngine>> engines_;  // empty between runs; end before their store
};

// Decides for all ranks whether they use GPUs.
record::Result<RunRequest> RankGroup::with_device(const RunRequest& request) const {
  if (!request.params.has("device")) return request;
  const std::string device = request.params.text("device");
  if (device != "auto" && !record::names_gpu(device)) return request;
  RunRequest own = request;
  const int gpus = gpus_();
  if (device == "auto" && gpus == 0) {
    (void)own.params.set("device", record::setting_of(record::DeviceKind::kCpu));
    return own;
  }
  if (gpus < ranks())
    return record::Error{fmt::format("The run needs {} GPUs, one per rank, but this machine has {}: use {}device=cpu.",
                                     ranks(), gpus, gpus > 1 ? fmt::format("ranks={}, or ", gpus) : ""),
                         record::ErrorKind::kRefused};
  (void)own.params.set("device", record::setting_of(record::DeviceKind::kGpu));
  own.device = record::DeviceKind::kGpu;
  return own;
}

Status RankGroup::start(const RunRequest& asked) {
  if (!engines_.empty())
    return record::Error{"A run is active: cancel it, or wait until it has finished.", record::ErrorKind::kRefused};
  const auto decided = with_device(asked);
  if (!decided) return decided.error();
  const RunRequest& request = decided.value();
  auto store = PrivateFolder::create();
  if (!store) return store.error();
  store_ = std::move(store).value();
  for (int rank = 0; rank < ranks(); ++rank)
    if (Status started = start_engine(rank, request); !started) {
      stop_engines();
      return started;
    }
  for (std::size_t rank = 0; rank < engines_.size(); ++rank) recordings_[rank] = engines_[rank]->recording();
  engines_.front()->set_other_ranks({recordings_.begin() + 1, recordings_.end()});
  file_.begin(request.record_to);
  patience_ = request.engine.patience;
  signs_.assign(engines_.size(), {});
  moved_at_.reset();
  failed_.clear();
  update();
  return record::Ok{};
}

record::Result<EngineCommand> RankGroup::command_of(int rank, record::DeviceKind device) const {
  EngineCommand command = command_;
  command.environment.push_back(fmt::format("HEADROOM_RANK={}", rank));
  command.environment.push_back(fmt::format("HEADROOM_RANKS={}", ranks()));
  command.environment.push_back("HEADROOM_STORE=" + store_->path().string());
  if (device != record::DeviceKind::kGpu) return command;
  const std::optional<std::string> gpu = device_of_rank(std::getenv("CUDA_VISIBLE_DEVICES"), rank);
  if (!gpu)
    return record::Error{fmt::format("CUDA_VISIBLE_DEVICES lists {} GPUs, but the run needs {}, one per rank; list "
                                     "more, or choose fewer ranks.",
                                     rank, ranks()),
                         record::ErrorKind::kRefused};
  command.environment.push_back("CUDA_VISIBLE_DEVICES=" + *gpu);
  return command;
}

Status RankGroup::start_engine(int rank, const RunRequest& request) {
  auto command = command_of(rank, request.device);
  if (!command) return command.error();
  if (request.engine.traced) command.value().arguments.emplace_back("--trace");
  engines_.push_back(make_rank_engine(std::move(command).value(),
                                      {.rank = rank, .ranks = ranks(), .take_chunk = [this, rank](auto chunk) {
                                         file_.append(chunk, static_cast<std::size_t>(rank));
                                       }}));
  RunRequest own = request;
  own.record_to.reset();
  own.engine.patience.reset();
  watch_.add(engines_.back()->descriptor());
  return engines_.back()->start(own);
}

void RankGroup::stop_engines() {
  engines_.clear();
  store_.reset();
}

void RankGroup::cancel() {
  if (engines_.empty() || state_ == RunState::kCancelling) return;
  for (const auto& engine : engines_) engine->cancel();
  state_ = RunState::kCancelling;
  settle(Clock::now());
}

bool RankGroup::poll() {
  if (engines_.empty()) return false;
  bool changed = false;
  for (const auto& engine : engines_) changed = engine->poll() || changed;
  settle(Clock::now());
  return changed || engines_.empty();
}

void RankGroup::settle(Clock::time_point now) {
  for (std::size_t rank = 0; rank < engines_.size(); ++rank) {
    if (!finished(rank) || outcome_of(rank).kind == OutcomeKind::kCompleted) continue;
    if (failed_.empty()) failed_at_ = now;
    if (std::ranges::find(failed_, rank) == failed_.end()) failed_.push_back(rank);
  }
  const std::optional<std::size_t> failed = failed_rank(now);
  update();
  if (all_finished() && failed_.empty()) {
    std::vector<Outcome> outcomes;
    for (std::size_t rank = 0; rank < engines_.size(); ++rank) outcomes.push_back(outcome_of(rank));
    return end(outcomes);
  }
  if (state_ == RunState::kCancelling) {
    if (all_finished()) end_with(cancelled());
    return;
  }
  if (failed) return end_with(failure_of(*failed));
  if (deadline() && now >= *deadline()) return end_with(stuck());
  std::optional<Clock::time_point> due = deadline();
  if (!failed_.empty()) due = failed_at_ + kEchoPatience;
  watch_.set_alarm(due);
}

// The rank that failed first, or caused the failure of others. Empty while others may still turn out to be the cause.
std::optional<std::size_t> RankGroup::failed_rank(Clock::time_point now) {
  if (failed_.empty()) return std::nullopt;
  const std::size_t cause =
      *std::ranges::min_element(failed_, {}, [&](std::size_t rank) { return severity(outcome_of(rank).kind); });
  const bool may_be_echo = outcome_of(cause).kind == OutcomeKind::kFailed && !all_finished();
  return may_be_echo && now < failed_at_ + kEchoPatience ? std::nullopt : std::optional(cause);
}

bool RankGroup::all_finished() const {
  return std::ranges::all_of(engines_, [](const auto& engine) { return engine->state() == RunState::kFinished; });
}

Outcome RankGroup::failure_of(std::size_t rank) const {
  Outcome outcome = outcome_of(rank);
  const std::string place = last_place(*recordings_[rank]), message = without_period(outcome.message);
  if (outcome.kind == OutcomeKind::kRefused) return outcome;  // concerns the settings, which all ranks share
  if (outcome.kind == OutcomeKind::kOutOfMemory)
    outcome.message = fmt::format("Rank {} ran out of memory {}: {}{}", rank, place, message, kOthersStopped);
  else if (const auto& died = engines_[rank]->death(); outcome.kind == OutcomeKind::kEngineLost && died)
    outcome.message = fmt::format("Rank {} {} {}{}{}", rank, died->how, place, died->last_line, kOthersStopped);
  else
    outcome.message = fmt::format("Rank {} failed {}: {}{}", rank, place, message, kOthersStopped);
  return outcome;
}

Outcome RankGroup::cancelled() const {
  for (const std::size_t rank : failed_)
    if (outcome_of(rank).kind == OutcomeKind::kCancelled && !engines_[rank]->death()) return outcome_of(rank);
  return {.kind = OutcomeKind::kCancelled, .message = "Cancelled."};
}

// The rank that the others wait for: the one that has begun the fewest collectives, and among these the first to stop.
std::size_t RankGroup::slowest_rank() const {
  const auto place_of = [&](std::size_t rank) {
    return std::tuple(finished(rank), engines_[rank]->collectives(), last_mark_time(*recordings_[rank]));
  };
  std::size_t slowest = 0;
  for (std::size_t rank = 1; rank < engines_.size(); ++rank)
    if (place_of(rank) < place_of(slowest)) slowest = rank;
  return slowest;
}

Outcome RankGroup::stuck() const {
  const std::size_t odd = slowest_rank();
  const std::uint64_t begun = engines_[odd]->collectives();
  const bool others_wait =
      std::ranges::any_of(engines_, [&](const auto& engine) { return engine->collectives() > begun; });
  return {.kind = OutcomeKind::kFailed,
          .message = fmt::format(
              "No rank made progress for {} s. Rank {} stopped first, {}{}; all ranks were stopped.",
              patience_->count(), odd, last_place(*recordings_[odd]),
              others_wait ? fmt::format(", before collective {}, in which other ranks wait for it", begun + 1) : "")};
}

void RankGroup::end_with(const Outcome& outcome) { end(std::vector<Outcome>(engines_.size(), outcome)); }

void RankGroup::end(const std::vector<Outcome>& outcomes) {
  for (std::size_t rank = 0; rank < engines_.size(); ++rank) engines_[rank]->end(outcomes[rank]);
  update();
  stop_engines();
  file_.end(outcomes);
  watch_.set_alarm(std::nullopt);
  state_ = RunState::kFinished;
}

void RankGroup::update() {
  const RankEngine& first = *engines_.front();
  progress_ = first.progress();
  if (first.state() == RunState::kFinished && !all_finished()) progress_.doing = "waiting for the other ranks";
  if (const std::size_t rank = slowest_rank(); const auto silence = engines_[rank]->silence())
    progress_.doing = fmt::format("waiting for rank {}: {}", rank, *silence);
  if (!first.devices().empty()) machine_ = {.devices = first.devices(), .facts = first.facts()};
  const auto starting = [](const auto& engine) { return engine->state() == RunState::kStarting; };
  if (state_ != RunState::kCancelling)
    state_ = std::ranges::any_of(engines_, starting) ? RunState::kStarting : RunState::kRunning;
  bool begun = false;
  for (std::size_t rank = 0; rank < engines_.size(); ++rank) {
    const RunProgress& progress = engines_[rank]->progress();
    const Signs signs{recordings_[rank]->events().size(), recordings_[rank]->marks().size(), progress.step,
                      progress.fraction};
    if (std::exchange(signs_[rank], signs) != signs) moved_at_.reset();
    begun = begun || progress.steps > 0;
  }
  if (!moved_at_ && begun) moved_at_ = Clock::now();
}

std::optional<Clock::time_point> RankGroup::deadline() const {
  return patience_ && moved_at_ ? std::optional(*moved_at_ + *patience_) : std::nullopt;
}

}  // namespace

std::unique_ptr<Backend> make_rank_group(EngineCommand command, int ranks, std::function<int()> gpus) {
  return std::make_unique<RankGroup>(std::move(command), ranks, std::move(gpus));
}

int visible_gpus() {
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    int count = 0;
    while (device_of_rank(visible, count)) ++count;
    return count;
  }
  const auto driver = nvml::Driver::open();
  return driver ? static_cast<int>(driver->device_count()) : 0;
}

std::optional<std::string> device_of_rank(const char* visible, int rank) {
  if (visible == nullptr) return std::to_string(rank);
  const std::vector<std::string> devices = record::split(visible, ',');
  const auto index = static_cast<std::size_t>(rank);
  if (index >= devices.size() || devices[index].empty()) return std::nullopt;
  return devices[index];
}

}  // namespace headroom::backend
