// Starts runs and follows them to their end.
#include "app/page/run_control.h"

#include "app/common/session.h"
#include "demos/experiments/combinations.h"
#include "lessons/wording.h"

namespace headroom::app::page {

using backend::RunState;

RunControl::RunControl(const experiments::DemoInfo& demo, backend::Backend* backend, std::string fixed_settings)
    : demo_(&demo), backend_(backend), fixed_settings_(std::move(fixed_settings)), params_(demo.schema) {}

void RunControl::show_params(const std::map<std::string, std::string>& params) {
  for (const auto& [key, value] : params)
    if (params_.has(key)) (void)params_.set(key, std::string_view(value));
}

record::Status RunControl::set(std::string_view key, std::string_view value) {
  if (!fixed_settings_.empty()) return record::Error{fixed_settings_};
  if (std::string reason = why_not(key, value); !reason.empty())
    return record::Error{std::move(reason), record::ErrorKind::kRefused};
  return params_.set(key, value);
}

std::string RunControl::why_not(std::string_view key, std::string_view value) const {
  record::Params wanted = params_;
  if (!wanted.set(key, value)) return {};  // set() reports invalid values
  const experiments::Conflict* conflict = experiments::conflict_in(wanted);
  if (conflict == nullptr || experiments::conflict_in(params_) != nullptr) return {};
  return lessons::conflict_in_words(wanted, key);
}

bool RunControl::busy() const {
  if (backend_ == nullptr) return false;
  const RunState state = backend_->state();
  return state == RunState::kStarting || state == RunState::kRunning || state == RunState::kCancelling;
}

bool RunControl::cancelling() const { return in_run_ && backend_->state() == RunState::kCancelling; }

record::Status RunControl::start(double now, double flops, std::optional<double> budget) {
  if (backend_ == nullptr) return record::Error{"There is no engine to run on.", record::ErrorKind::kRefused};
  const record::Status status = backend_->start(run_request(demo_->id, params_));
  refusal_ = status ? std::string() : status.error().message;
  if (!status) return status;
  in_run_ = true;
  started_at_ = now;
  started_flops_ = flops;
  budget_ = budget;
  over_budget_.reset();
  started_with_ = params_;
  recording_ = backend_->recording();
  outcome_.reset();
  return status;
}

void RunControl::cancel() const {
  if (running()) backend_->cancel();
}

bool RunControl::poll(double now, bool news) {
  if (!in_run_) return false;
  recording_ = backend_->recording();
  const bool late = budget_ && now > started_at_ + *budget_;
  if (backend_->state() != RunState::kFinished) {
    if (late && !cancelling()) cancel();
    return news;
  }
  in_run_ = false;
  last_seconds_ = now - started_at_;
  if (recording_ != nullptr) outcome_ = recording_->outcome();
  if (outcome_ && outcome_->kind == record::OutcomeKind::kCompleted) {
    timed_params_ = started_with_;
    timed_seconds_ = *last_seconds_;
    if (started_flops_ > 0 && timed_seconds_ > 0) flops_per_second_ = started_flops_ / timed_seconds_;
  }
  if (late && outcome_ && outcome_->kind == record::OutcomeKind::kCancelled) over_budget_ = budget_;
  return true;
}

const backend::RunProgress* RunControl::progress() const { return running() ? &backend_->progress() : nullptr; }

std::optional<double> RunControl::estimate() const {
  if (!timed_params_ || !(*timed_params_ == params_)) return std::nullopt;
  return timed_seconds_;
}

const std::optional<std::string>& RunControl::trouble() const {
  static const std::optional<std::string> none;
  return backend_ == nullptr ? none : backend_->trouble();
}

}  // namespace headroom::app::page
