#include "app/cli/drive_sweep.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "app/cli/check_files.h"
#include "app/cli/drive.h"
#include "app/cli/output.h"

namespace headroom::app {

using record::Error;
using record::ErrorKind;
using record::OutcomeKind;
using Clock = std::chrono::steady_clock;

namespace {

std::string name_of(const std::string& series, const std::string& label) {
  return series.empty() ? label : series + ", " + label;
}

backend::RunProgress progress_of(const SweepDriver& driver) {
  const PlannedPoint* const point = driver.current();
  if (point == nullptr) return {};
  backend::RunProgress progress = *driver.progress();
  const auto total = static_cast<double>(driver.plan().points.size());
  progress.fraction = (static_cast<double>(driver.done()) + std::clamp(progress.fraction, 0.0, 1.0)) / total;
  progress.doing = fmt::format("{} of {}, {}: {}", driver.done() + 1, driver.plan().points.size(),
                               name_of(point->series, point->label), progress.doing);
  progress.time_left = -1;  // unknown for the other points
  return progress;
}

// An engine that has greeted and has the sweep's devices.
record::Result<std::unique_ptr<backend::Backend>> first_engine(const EngineChoice& chosen, const SweepPlan& plan) {
  if (!chosen) return Error{chosen.reason, ErrorKind::kRefused};
  auto engine = backend::make_engine(*chosen.command);
  if (auto ready = wait_for_engine(*engine); !ready) return ready.error();
  for (const PlannedPoint& point : plan.points)
    if (auto there = check_device(*engine, point.params); !there) return there.error();
  return engine;
}

// One sentence per reason, with the first point that failed for it.
void say_failures(const std::vector<record::SweepPoint>& points) {
  std::vector<std::string_view> said;
  for (const record::SweepPoint& point : points) {
    const record::Outcome& outcome = point.outcome;
    if (outcome.kind == OutcomeKind::kCompleted || outcome.kind == OutcomeKind::kOutOfMemory) continue;
    if (std::find(said.begin(), said.end(), outcome.message) != said.end()) continue;
    said.push_back(outcome.message);
    const auto others =
        std::count_if(points.begin(), points.end(),
                      [&](const record::SweepPoint& other) { return other.outcome.message == outcome.message; }) -
        1;
    const std::string more = others > 0 ? fmt::format(" and {} more", others) : std::string();
    say(fmt::format("{}{}: {}", name_of(point.series, point.label), more, outcome.message));
  }
}

}  // namespace

record::Status check_files(const SweepPlan& plan, const EngineChoice& engine) {
  const experiments::DemoInfo& demo = *experiments::find_demo(plan.demo);
  for (const PlannedPoint& point : plan.points)
    if (auto usable = check_files(demo, point.params, engine); !usable) return usable.error();
  return record::Ok{};
}

record::Result<DrivenSweep> drive_sweep(SweepPlan plan, const EngineChoice& engine, const SweepFile& file,
                                        std::optional<double> time_limit) {
  auto first = std::make_shared<std::unique_ptr<backend::Backend>>();
  const auto make = [first, engine]() {
    return *first != nullptr ? std::move(*first) : backend::make_engine(*engine.command);
  };
  std::optional<std::filesystem::path> path;
  if (file.path) path = *file.path;
  auto opened = SweepDriver::open(std::move(plan), make, path, file.restart);
  if (!opened) return opened.error();
  SweepDriver& driver = opened.value();
  DrivenSweep sweep{.planned = driver.plan().points.size(), .found = driver.found()};
  if (driver.state() == SweepState::kRunning) {
    auto started = first_engine(engine, driver.plan());
    if (!started && started.error().kind != ErrorKind::kInterrupted) return started.error();
    if (started)
      *first = std::move(started).value();
    else
      driver.stop();
  }
  const auto start = Clock::now();
  ProgressLine progress;
  while (driver.state() == SweepState::kRunning || driver.state() == SweepState::kStopping) {
    driver.poll();
    if (driver.current() != nullptr) {
      progress.show(progress_of(driver));
      backend::wait(driver.descriptor());
    }
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    if (driver.state() != SweepState::kRunning) continue;
    sweep.interrupted = interrupted();
    sweep.time_limit_met = !sweep.interrupted && time_limit && elapsed.count() > *time_limit;
    if (sweep.interrupted || sweep.time_limit_met) driver.stop();
  }
  progress.clear();
  sweep.interrupted = interrupted();
  sweep.recording = driver.recording();
  sweep.write_error = driver.write_error();
  return sweep;
}

bool measured(const DrivenSweep& sweep) {
  const auto& points = sweep.recording->sweep_points();
  return std::any_of(points.begin(), points.end(), [](const record::SweepPoint& point) {
    return point.outcome.kind == OutcomeKind::kCompleted || point.outcome.kind == OutcomeKind::kOutOfMemory;
  });
}

ExitCode exit_code_of(const DrivenSweep& sweep) {
  if (sweep.write_error) return ExitCode::kNotWritten;
  const auto& points = sweep.recording->sweep_points();
  if (points.size() < sweep.planned) {
    if (sweep.interrupted) return ExitCode::kInterrupted;
    if (sweep.time_limit_met) return ExitCode::kTimeLimit;
  }
  const auto any = [&](OutcomeKind kind) {
    return std::any_of(points.begin(), points.end(), [=](const auto& point) { return point.outcome.kind == kind; });
  };
  if (measured(sweep)) return ExitCode::kDone;
  return any(OutcomeKind::kEngineLost) || any(OutcomeKind::kFailed) ? ExitCode::kEngine : ExitCode::kRefused;
}

void say_what_happened(const DrivenSweep& sweep, const SweepFile& file) {
  const auto& points = sweep.recording->sweep_points();
  if (sweep.found > 0) say(fmt::format("{} of {} points are already in {}.", sweep.found, sweep.planned, *file.path));
  say_failures(points);
  if (sweep.write_error) say(sweep.write_error->message);
  if (points.size() == sweep.planned || sweep.write_error) return;
  const std::string how = sweep.interrupted ? "Interrupted" : "The time limit was reached";
  say(fmt::format("{}: {} of {} points are measured; {}.", how, points.size(), sweep.planned,
                  file.path ? "run the same command again to measure the rest"
                            : "use --record FILE to be able to "
                              "resume a sweep"));
}

}  // namespace headroom::app
