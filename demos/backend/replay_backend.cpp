// Replays a stored recording, at its host times or all at once.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>

#include "demos/backend/backend.h"
#include "demos/backend/child_process.h"

namespace headroom::backend {

using record::Nanoseconds;
using record::Outcome;
using record::OutcomeKind;
using record::Recording;
using record::Status;

namespace {

struct Played {
  template <record::IsRow Row>
  std::size_t& of() {
    return rows[record::RowKinds::index<Row>()];
  }

  std::array<std::size_t, record::RowKinds::kCount> rows{};
  std::size_t device_times = 0;
};

class ReplayBackend final : public Backend {
 public:
  ReplayBackend(std::shared_ptr<const Recording> source, ReplayPace pace);

  Status start(const RunRequest& request) override;
  void cancel() override;
  bool poll() override;

  RunState state() const override { return state_; }
  const RunProgress& progress() const override { return progress_; }
  std::shared_ptr<const Recording> recording() const override { return recording_; }
  const std::optional<record::Error>& write_error() const override { return write_error_; }
  const std::vector<protocol::DeviceFacts>& devices() const override { return devices_; }
  const std::optional<std::string>& trouble() const override { return trouble_; }
  int descriptor() const override { return -1; }

 private:
  bool advance(Nanoseconds until);
  void show_progress(Nanoseconds until);
  void finish(Outcome outcome);

  std::shared_ptr<const Recording> source_;
  ReplayPace pace_;
  Nanoseconds length_;  // on the host's clock
  std::int32_t steps_ = 0;
  RunState state_ = RunState::kIdle;
  RunProgress progress_;
  std::shared_ptr<Recording> recording_;
  Played played_;
  Clock::time_point started_at_{};
  std::optional<std::filesystem::path> record_to_;
  std::optional<record::Error> write_error_;
  std::vector<protocol::DeviceFacts> devices_;
  std::optional<std::string> trouble_;
};

protocol::DeviceFacts device_of(const record::RunInfo& info) {
  const bool gpu = info.device == record::DeviceKind::kGpu;
  const auto name = info.provenance.find(gpu ? "gpu" : "cpu");
  return {.kind = info.device,
          .key = gpu ? "cuda" : "cpu",
          .name = name != info.provenance.end() ? name->second : (gpu ? "GPU" : "CPU"),
          .memory = info.device_memory,
          .free_memory = info.device_memory};
}

Nanoseconds length_of(const Recording& recording) {
  Nanoseconds length = 0;
  record::for_each_row_kind([&](const auto& kind) {
    if (kind.time == nullptr) return;
    for (const auto& row : recording.rows<record::RowOf<decltype(kind)>>()) length = std::max(length, row.*kind.time);
  });
  for (const auto& mark : recording.marks()) length = std::max(length, mark.device_time);
  for (const auto& span : recording.kernel_spans()) length = std::max(length, span.start + span.duration);
  return length;
}

ReplayBackend::ReplayBackend(std::shared_ptr<const Recording> source, ReplayPace pace)
    : source_(std::move(source)), pace_(pace), length_(length_of(*source_)), devices_{device_of(source_->info())} {
  for (const auto& mark : source_->marks()) steps_ = std::max(steps_, mark.step + 1);
}

Status ReplayBackend::start(const RunRequest& request) {
  if (state_ == RunState::kRunning)
    return record::Error{"A replay is on: cancel it, or wait until it has finished.", record::ErrorKind::kRefused};
  record_to_ = request.record_to;
  write_error_.reset();
  recording_ = std::make_shared<Recording>(source_->info());
  recording_->set_source(record::Source::kRecorded);
  recording_->append_operators(0, source_->operators());
  played_ = {};
  progress_ = {};
  state_ = RunState::kRunning;
  started_at_ = Clock::now();
  return record::Ok{};
}

void ReplayBackend::cancel() {
  if (state_ == RunState::kRunning) finish({.kind = OutcomeKind::kCancelled, .message = "The replay was stopped."});
}

bool ReplayBackend::poll() {
  if (state_ != RunState::kRunning) return false;
  const Nanoseconds until =
      pace_ == ReplayPace::kAtOnce ? length_ : (Clock::now() - started_at_) / std::chrono::nanoseconds(1);
  const bool changed = advance(until);
  show_progress(until);
  if (until < length_) return changed;
  record::for_each_row_kind([&](const auto& kind) {
    if (kind.time == nullptr) recording_->append(source_->rows<record::RowOf<decltype(kind)>>());
  });
  if (source_->kernel_report()) recording_->set_kernel_report(*source_->kernel_report());
  recording_->add_dropped(source_->dropped_events());
  finish(source_->outcome().value_or(
      Outcome{.kind = OutcomeKind::kEngineLost, .message = "The recording ends here: it was cut off."}));
  return true;
}

// Rows from index `played` up to time `until`; advances `played` past them.
template <class Row, class Time>
std::span<const Row> take(const std::vector<Row>& rows, std::size_t& played, Nanoseconds until, Time time) {
  const std::size_t first = played;
  while (played < rows.size() && time(rows[played]) <= until) ++played;
  return std::span(rows).subspan(first, played - first);
}

bool ReplayBackend::advance(Nanoseconds until) {
  const auto events = take(source_->events(), played_.of<record::MemEvent>(), until,
                           [](const record::MemEvent& event) { return event.time; });
  recording_->append(events);

  // A mark counts the events before it, so it follows them. Its GPU time comes later.
  const bool gpu = source_->info().device == record::DeviceKind::kGpu;
  const auto new_marks = take(source_->marks(), played_.of<record::Mark>(), until, [&](const record::Mark& mark) {
    return mark.event_index <= played_.of<record::MemEvent>() ? mark.host_time
                                                              : std::numeric_limits<Nanoseconds>::max();
  });
  std::vector<record::Mark> marks(new_marks.begin(), new_marks.end());
  if (gpu)
    for (record::Mark& mark : marks) mark.device_time = record::kPending;
  recording_->append(marks);
  std::vector<Nanoseconds> times;
  for (; gpu && played_.device_times < played_.of<record::Mark>(); ++played_.device_times) {
    const Nanoseconds time = source_->marks()[played_.device_times].device_time;
    if (time == record::kPending || time > until) break;
    times.push_back(time);
  }
  recording_->append_device_times(times);

  bool more = !events.empty() || !marks.empty() || !times.empty();
  record::for_each_row_kind([&](const auto& kind) {
    using Row = record::RowOf<decltype(kind)>;
    if constexpr (!std::is_same_v<Row, record::MemEvent> && !std::is_same_v<Row, record::Mark>) {
      if (kind.time == nullptr) return;
      const auto rows =
          take(source_->rows<Row>(), played_.of<Row>(), until, [&](const Row& row) { return row.*kind.time; });
      recording_->append(rows);
      more = more || !rows.empty();
    }
  });
  return more;
}

void ReplayBackend::show_progress(Nanoseconds until) {
  const auto& marks = recording_->marks();
  const std::int32_t step = marks.empty() ? -1 : marks.back().step;
  const double total = static_cast<double>(std::max<Nanoseconds>(length_, 1));
  progress_ = {.step = step + 1,
               .steps = steps_,
               .fraction = std::clamp(static_cast<double>(until) / total, 0.0, 1.0),
               .time_left = std::max<Nanoseconds>(length_ - until, 0),
               .doing = step < 0 ? "replaying a recording" : fmt::format("replaying step {} of {}", step + 1, steps_)};
}

void ReplayBackend::finish(Outcome outcome) {
  recording_->set_outcome(std::move(outcome));
  if (record_to_)
    if (const Status status = recording_->write(*record_to_); !status) write_error_ = status.error();
  progress_.doing.clear();
  progress_.time_left = -1;
  state_ = RunState::kFinished;
}

}  // namespace

std::unique_ptr<Backend> make_replay(std::shared_ptr<const Recording> recording, ReplayPace pace) {
  return std::make_unique<ReplayBackend>(std::move(recording), pace);
}

}  // namespace headroom::backend
