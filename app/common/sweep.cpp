#include "app/common/sweep.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/common/session.h"
#include "app/common/summary.h"
#include "demos/experiments/combinations.h"
#include "demos/record/text.h"

namespace headroom::app {

namespace fs = std::filesystem;
using record::Error;
using record::OutcomeKind;
using record::Recording;
using record::SweepPoint;

namespace {

constexpr std::string_view kName = "sweep", kPoints = "sweep.points";

// A point records these facts if they differ from the sweep's, because it then belongs to another curve.
constexpr std::array<std::string_view, 7> kCompared{"device", "gpu", "cpu", "driver", "cuda", "torch", "revision"};

// True if the settings determined the outcome.
bool settled(OutcomeKind outcome) {
  return outcome == OutcomeKind::kCompleted || outcome == OutcomeKind::kOutOfMemory || outcome == OutcomeKind::kRefused;
}

// Failed points, points with a lost engine and points refused by an engine run again; a refusal may be due to a missing
// file.
bool known_for_good(const SweepPoint& point, const PlannedPoint& planned) {
  if (point.outcome.kind == OutcomeKind::kRefused) return experiments::refused_combination(planned.params).has_value();
  return settled(point.outcome.kind);
}

// Why the file contains another sweep.
std::string difference(const Recording& found, const SweepPlan& plan, const record::RunInfo& planned) {
  const record::RunInfo& info = found.info();
  const std::string name = record::fact_of(info.provenance, kName);
  if (name.empty()) return "it is a recording of a single run";
  if (name != plan.name || info.demo != plan.demo)
    return fmt::format("it contains the sweep {} of {}", record::quoted(name), info.demo);
  for (const auto& [key, value] : planned.params) {
    const auto there = info.params.find(key);
    if (there == info.params.end()) return fmt::format("{} differs from point to point there", key);
    if (there->second != value) return fmt::format("{} is {} there, not {}", key, there->second, value);
  }
  if (info.params != planned.params ||
      record::fact_of(info.provenance, kPoints) != record::fact_of(planned.provenance, kPoints))
    return "its points are different";
  return "";
}

}  // namespace

SweepPoint sweep_point_of(const PlannedPoint& planned, const Recording& run) {
  const RunSummary summary = summarise(record::Ledger(run));
  SweepPoint point;
  point.series = planned.series;
  point.label = planned.label;
  point.params = planned.params.to_map();
  point.outcome = summary.outcome;
  point.peak = summary.peak;
  if (summary.tokens_per_second) {
    const record::Quantity& speed = *summary.tokens_per_second;
    point.tokens_per_second = speed.value;
    point.tokens_per_second_low = std::min(speed.low.value_or(speed.value), speed.value);
    point.tokens_per_second_high = std::max(speed.high.value_or(speed.value), speed.value);
  }
  if (summary.loss && std::isfinite(*summary.loss)) point.loss = summary.loss;
  point.steps = summary.steps;
  if (!planned.keep.empty()) point.recording = planned.keep.filename().string();
  return point;
}

record::Result<SweepDriver> SweepDriver::open(SweepPlan plan, MakeBackend make, std::optional<fs::path> file,
                                              bool replace) {
  SweepDriver driver(std::move(plan), std::move(make), std::move(file));
  driver.info_.demo = driver.plan_.demo;
  driver.info_.params = common_settings(driver.plan_);
  driver.info_.provenance = {{std::string(kName), driver.plan_.name},
                             {std::string(kPoints), describe_points(driver.plan_)}};
  std::error_code ignored;
  if (driver.file_ && fs::exists(*driver.file_, ignored) && !replace) {
    const auto found = Recording::read(*driver.file_);
    const std::string reason = found ? difference(found.value(), driver.plan_, driver.info_) : found.error().message;
    if (!reason.empty())
      return Error{fmt::format("Cannot resume {} ({}): choose another file, or overwrite it with --restart.",
                               record::printable(driver.file_->string()), reason)};
    driver.take_from(found.value());
  }
  if (driver.file_)  // reports an unwritable file before the first run
    if (auto writer = record::RecordingWriter::create(*driver.file_); !writer) return writer.error();
  driver.rebuild();
  return driver;
}

void SweepDriver::take_from(const Recording& found) {
  info_ = found.info();
  info_.source = record::Source::kLive;
  for (const SweepPoint& point : found.sweep_points()) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const PlannedPoint& planned = plan_.points[i];
      if (points_[i] || planned.series != point.series || planned.label != point.label) continue;
      if (!known_for_good(point, planned)) continue;
      points_[i] = point;
      ++done_;
      ++found_;
    }
  }
}

const PlannedPoint* SweepDriver::current() const { return in_run_ ? &plan_.points[next_] : nullptr; }

const backend::RunProgress* SweepDriver::progress() const { return in_run_ ? &backend_->progress() : nullptr; }

std::shared_ptr<const Recording> SweepDriver::run() const { return in_run_ ? backend_->recording() : nullptr; }

void SweepDriver::stop() {
  if (state_ != SweepState::kRunning) return;
  state_ = in_run_ ? SweepState::kStopping : SweepState::kStopped;
  if (in_run_) backend_->cancel();
}

bool SweepDriver::poll() {
  if (state_ == SweepState::kStopped || state_ == SweepState::kFinished) return false;
  if (!in_run_) {
    start_next();
    return true;
  }
  const bool news = backend_->poll();
  if (backend_->state() != backend::RunState::kFinished) return news;
  in_run_ = false;
  const std::shared_ptr<const Recording> run = backend_->recording();
  SweepPoint point = sweep_point_of(plan_.points[next_], *run);
  const bool stopped = state_ == SweepState::kStopping;
  if (stopped && !settled(point.outcome.kind)) {
    state_ = SweepState::kStopped;
    return true;
  }
  // An engine that ran out of memory or failed may hold memory that would be charged to later points.
  if (point.outcome.kind != OutcomeKind::kCompleted && point.outcome.kind != OutcomeKind::kRefused) backend_.reset();
  finish_point(std::move(point), run.get());
  if (stopped && state_ != SweepState::kFinished) state_ = SweepState::kStopped;
  return true;
}

void SweepDriver::start_next() {
  next_ = static_cast<std::size_t>(
      std::find_if(points_.begin(), points_.end(), [](const auto& point) { return !point; }) - points_.begin());
  if (next_ == points_.size()) {
    state_ = SweepState::kFinished;
    return;
  }
  const PlannedPoint& planned = plan_.points[next_];
  const auto without_run = [&](OutcomeKind kind, std::string message) {
    finish_point({.series = planned.series,
                  .label = planned.label,
                  .params = planned.params.to_map(),
                  .outcome = {kind, std::move(message), std::nullopt}},
                 nullptr);
  };
  if (auto reason = experiments::refused_combination(planned.params))
    return without_run(OutcomeKind::kRefused, std::move(*reason));
  if (backend_ == nullptr) backend_ = make_();
  backend::RunRequest request = run_request(plan_.demo, planned.params);
  if (!planned.keep.empty()) {
    std::error_code failed;  // ignored: the recording's error names the missing folder
    fs::create_directories(planned.keep.parent_path(), failed);
    request.record_to = planned.keep;
  }
  if (const auto started = backend_->start(request); !started) {
    backend_.reset();
    return without_run(OutcomeKind::kEngineLost, started.error().message);
  }
  in_run_ = true;
}

void SweepDriver::finish_point(SweepPoint point, const Recording* run) {
  if (run != nullptr) {
    const record::RunInfo& of_run = run->info();
    if (!info_.provenance.contains("created")) {  // the first run describes the sweep's machine
      info_.provenance.insert(of_run.provenance.begin(), of_run.provenance.end());
      info_.device = of_run.device;
      info_.source = of_run.source;
      info_.cap = info_.params.contains("cap") ? of_run.cap : 0;
      info_.device_memory = of_run.device_memory;
    }
    for (const std::string_view key : kCompared) {
      const std::string value = record::fact_of(of_run.provenance, key);
      if (value != record::fact_of(info_.provenance, key)) point.provenance[std::string(key)] = value;
    }
  }
  points_[next_] = std::move(point);
  ++done_;
  if (done_ == points_.size()) state_ = SweepState::kFinished;
  rebuild();
  if (!file_) return;
  if (auto written = recording_->write(*file_); !written) {
    write_error_ = written.error();
    state_ = SweepState::kStopped;
  }
}

void SweepDriver::rebuild() {
  auto recording = std::make_shared<Recording>(info_);
  for (const auto& point : points_)
    if (point) recording->append(*point);
  if (done_ == points_.size()) recording->set_outcome({});
  if (done_ == points_.size() && state_ == SweepState::kRunning) state_ = SweepState::kFinished;
  recording_ = std::move(recording);
}

}  // namespace headroom::app
