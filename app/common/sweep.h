// Runs a plan's points one after another into one recording. Never blocks: the window calls poll() once per frame, and
// the command line when descriptor() is readable.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/sweep_plan.h"
#include "demos/backend/backend.h"
#include "demos/record/recording.h"
#include "demos/record/result.h"

namespace headroom::app {

record::SweepPoint sweep_point_of(const PlannedPoint& planned, const record::Recording& run);

enum class SweepState { kRunning, kStopping, kStopped, kFinished };

class SweepDriver {
 public:
  using MakeBackend = std::function<std::unique_ptr<backend::Backend>()>;

  // With a file, writes the sweep after each point and reuses the file's results; failed points run again. Fails if the
  // file contains anything but this sweep, unless `replace` is true. `make` returns a backend with a fresh engine, at
  // the start and after each point that did not complete.
  static record::Result<SweepDriver> open(SweepPlan plan, MakeBackend make,
                                          std::optional<std::filesystem::path> file = std::nullopt,
                                          bool replace = false);

  // Polls the backend and starts the next point. True if anything changed.
  bool poll();
  // Cancels and discards the running point; a later sweep runs it again.
  void stop();

  SweepState state() const { return state_; }
  const SweepPlan& plan() const { return plan_; }
  std::size_t done() const { return done_; }    // points with a result
  std::size_t found() const { return found_; }  // of these, points taken from the file
  const PlannedPoint* current() const;
  const backend::RunProgress* progress() const;  // progress of the running point
  // The running point's recording.
  std::shared_ptr<const record::Recording> run() const;
  int descriptor() const { return backend_ != nullptr ? backend_->descriptor() : -1; }
  // The sweep so far: a new object after each point, with an outcome once all points have one.
  std::shared_ptr<const record::Recording> recording() const { return recording_; }
  const std::optional<record::Error>& write_error() const { return write_error_; }

 private:
  SweepDriver(SweepPlan plan, MakeBackend make, std::optional<std::filesystem::path> file)
      : plan_(std::move(plan)), make_(std::move(make)), file_(std::move(file)), points_(plan_.points.size()) {}

  void take_from(const record::Recording& found);
  void start_next();
  void finish_point(record::SweepPoint point, const record::Recording* run);
  void rebuild();

  SweepPlan plan_;
  MakeBackend make_;
  std::optional<std::filesystem::path> file_;
  std::vector<std::optional<record::SweepPoint>> points_;  // in the plan's order; empty: not run yet
  record::RunInfo info_;
  std::unique_ptr<backend::Backend> backend_;
  std::size_t next_ = 0;  // index of the running point, or where the search for the next begins
  bool in_run_ = false;
  std::size_t done_ = 0, found_ = 0;
  SweepState state_ = SweepState::kRunning;
  std::shared_ptr<const record::Recording> recording_;
  std::optional<record::Error> write_error_;
};

}  // namespace headroom::app
