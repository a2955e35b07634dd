// Validates predictions: each configuration is predicted, run in a fresh engine, and compared. A border is the largest
// batch b under a limit: b fits, and b + 1 does not.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/common/plan/step_plan.h"
#include "demos/backend/backend.h"
#include "demos/record/recording.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

struct ComparedBytes {
  record::Bytes predicted = 0, measured = 0;

  bool equal() const { return predicted == measured; }
  // (predicted − measured) / measured; 0 if both are 0.
  double error() const;
};

struct ComparedRun {
  record::Params params;
  std::string trouble;  // empty if compared
  bool predicted_to_run_out = false, ran_out = false;
  // Peaks of the whole run, or until it ran out of memory.
  ComparedBytes requested, allocated;
  ComparedBytes reserved;                                           // 0 without segments
  std::array<ComparedBytes, record::kNumCategories> by_category{};  // at the allocated peak
  // Process memory outside the allocator at the run's end, from the driver; 0: unknown.
  record::Bytes process = 0;

  // Each comparison is one CSV row, which begins with as_line(); errors are signed, in percent.
  static std::string head();
  std::string row() const;
  static std::optional<ComparedRun> of_row(const std::string& row);  // empty for other rows
  std::string said() const;
};

struct ComparedBorder {
  record::Params params;  // their cap is the limit
  std::string trouble;    // empty if compared
  std::int64_t predicted = 0, measured = 0;

  static std::string head();
  std::string row() const;
  static std::optional<ComparedBorder> of_row(const std::string& row);
  std::string said() const;
};

struct ValidationTools {
  std::function<std::unique_ptr<backend::Backend>()> make;  // returns an engine that is ready and has run nothing
  std::mutex& device;                                       // held during a run
  std::function<bool()> stop = [] { return false; };
  // Folder for runs that differ from their prediction, as NAME.hrec; empty: runs are not kept.
  std::filesystem::path folder = {};
};

// `name`: file name of a kept recording. Empty if stopped.
std::optional<ComparedRun> validate_one(const record::Params& params, Predictions& predictions,
                                        const ValidationTools& tools, const std::string& name);

// Runs the predicted largest batch and one more, then further batches until the border is found. Empty if stopped.
std::optional<ComparedBorder> validate_border(const record::Params& params, StepPlanner& planner,
                                              const ValidationTools& tools);

struct ValidationSummary {
  int compared = 0, with_trouble = 0;
  int ran_out = 0, wrong_outcome = 0;  // of those compared
  struct Agreement {
    int equal = 0;
    double worst = 0;  // largest in magnitude, signed

    void add(const ComparedBytes& bytes);
  };
  Agreement requested, allocated, reserved;
  double worst_category = 0;  // largest error of a category, as a share of the peak

  void add(const ComparedRun& run);
  std::string text() const;
};

struct BorderSummary {
  int compared = 0, with_trouble = 0;
  int exact = 0, one_off = 0;
  int too_large = 0;  // predicted to fit, but ran out

  void add(const ComparedBorder& border);
  std::string text() const;
};

}  // namespace headroom::app
