// Runs the points of a plan one after the other and keeps them in one recording. It never waits: whoever owns it calls
// poll(), the window once per frame, the command line when descriptor() is readable.
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

// A finished run as a point of a sweep.
record::SweepPoint sweep_point_of(const PlannedPoint& planned, const record::Recording& run);

// What became of a sweep: its points may have failed, each on its own.
enum class SweepState { kRunning, kStopping, kStopped, kFinished };

class SweepDriver {
 public:
  using MakeBackend = std::function<std::unique_ptr<backend::Backend>()>;

  // With a file, the sweep so far is written there after each point, and what the file has already of this plan is not
  // run again; points that failed are. A file that holds anything else is refused, unless `replace`. `make` gives a
  // backend whose engine has run nothing: it is called at the beginning, and again after a point that did not complete.
  static record::Result<SweepDriver> open(SweepPlan plan, MakeBackend make,
                                          std::optional<std::filesystem::path> file = std::nullopt,
                                          bool replace = false);

  // Takes in what has arrived and starts what is next. True if anything changed.
  bool poll();
  // The point that runs is cancelled and not kept; a later sweep runs it again.
  void stop();

  SweepState state() const { return state_; }
  const SweepPlan& plan() const { return plan_; }
  std::size_t done() const { return done_; }     // points that have a result
  std::size_t found() const { return found_; }   // of these, in the file already
  const PlannedPoint* current() const;           // null: none runs
  const backend::RunProgress* progress() const;  // of the one that runs; null: none
  // The run of the current point while it goes on; null: none.
  std::shared_ptr<const record::Recording> run() const;
  int descriptor() const { return backend_ != nullptr ? backend_->descriptor() : -1; }
  // The sweep so far. The object is replaced, not reused, after each point. It has an outcome once all points have.
  std::shared_ptr<const record::Recording> recording() const { return recording_; }
  // Why the sweep ended early: its file could not be written.
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
  std::vector<std::optional<record::SweepPoint>> points_;  // as the plan's; empty: not run yet
  record::RunInfo info_;
  std::unique_ptr<backend::Backend> backend_;
  std::size_t next_ = 0;  // the point that runs, or where to look for the next
  bool in_run_ = false;
  std::size_t done_ = 0, found_ = 0;
  SweepState state_ = SweepState::kRunning;
  std::shared_ptr<const record::Recording> recording_;
  std::optional<record::Error> write_error_;
};

}  // namespace headroom::app
