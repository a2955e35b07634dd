// A backend controlled by the test.
#include "tests/gui/support/scripted_backend.h"

#include <algorithm>
#include <utility>

namespace headroom::tests {

using backend::RunState;

ScriptedBackend::ScriptedBackend(std::shared_ptr<const record::Recording> source, std::size_t events_per_poll)
    : source_(std::move(source)), events_per_poll_(events_per_poll) {
  devices_.push_back({.kind = record::DeviceKind::kCpu,
                      .key = "cpu",
                      .name = "CPU, 2 cores",
                      .memory = 16 * record::kGiB,
                      .free_memory = 12 * record::kGiB});
}

void ScriptedBackend::add_gpu(record::Bytes memory) {
  devices_.push_back(
      {.kind = record::DeviceKind::kGpu, .key = "cuda", .name = "A GPU", .memory = memory, .free_memory = memory});
}

record::Status ScriptedBackend::start(const backend::RunRequest& request) {
  if (state_ == RunState::kRunning && !replaces_) return record::Error{"A run is on.", record::ErrorKind::kRefused};
  ++starts_;
  last_params_ = request.params;
  record::RunInfo info = source_->info();
  if (info.source != record::Source::kPredicted) info.source = record::Source::kLive;
  recording_ = std::make_shared<record::Recording>(info);
  recording_->append_operators(0, source_->operators());
  events_ = marks_ = 0;
  progress_ = {.step = 0, .steps = 2, .fraction = 0, .time_left = 2'000'000'000, .doing = "step 1 of 2"};
  state_ = RunState::kRunning;
  return record::Ok{};
}

void ScriptedBackend::cancel() {
  ++cancels_;
  if (state_ == RunState::kRunning) finish({record::OutcomeKind::kCancelled, "Cancelled.", {}});
}

void ScriptedBackend::lose_engine(std::string message) {
  if (state_ == RunState::kRunning) finish({record::OutcomeKind::kEngineLost, std::move(message), {}});
}

void ScriptedBackend::finish(record::Outcome outcome) {
  if (source_->kernel_report()) recording_->set_kernel_report(*source_->kernel_report());
  recording_->set_outcome(std::move(outcome));
  state_ = RunState::kFinished;
}

bool ScriptedBackend::poll() {
  if (state_ == RunState::kRunning && loses_next_) {
    lose_engine(*std::exchange(loses_next_, std::nullopt));
    return true;
  }
  if (state_ != RunState::kRunning || held_) return false;
  const auto& events = source_->events();
  const std::size_t until = std::min(events.size(), events_ + events_per_poll_);
  const auto& marks = source_->marks();
  std::size_t marks_until = marks_;
  while (marks_until < marks.size() && (until == events.size() || marks[marks_until].event_index < until))
    ++marks_until;
  recording_->append(std::span(marks).subspan(marks_, marks_until - marks_));
  recording_->append(std::span(events).subspan(events_, until - events_));
  marks_ = marks_until;
  events_ = until;
  progress_.fraction = events.empty() ? 1 : static_cast<double>(events_) / static_cast<double>(events.size());
  progress_.time_left = static_cast<record::Nanoseconds>((1 - progress_.fraction) * 2e9);
  if (events_ == events.size()) {
    for (const record::MetricSample& sample : source_->metrics()) recording_->append(sample);
    finish(source_->outcome().value_or(record::Outcome{}));
  }
  return true;
}

}  // namespace headroom::tests
