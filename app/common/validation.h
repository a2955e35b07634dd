// Validates predictions: each configuration is predicted, run in a fresh engine, and compared.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/common/predictions.h"
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
  // Peaks of the whole run, or until it ran out.
  ComparedBytes requested, allocated;
  ComparedBytes reserved;                                           // 0 without segments
  std::array<ComparedBytes, record::kNumCategories> by_category{};  // at the allocated peak
  // Process memory outside the allocator at the run's end, from the driver; 0: unknown.
  record::Bytes process = 0;
};

ComparedRun compare_peaks(const record::Params& params, const record::Recording& predicted,
                          const record::Recording& measured);

struct ValidationTools {
  std::function<std::unique_ptr<backend::Backend>()> make;  // ready, and has run nothing
  std::mutex& device;                                       // held during a run
  std::function<bool()> stop = [] { return false; };
  // Keeps runs that differ from their prediction as NAME.hrec; empty: none.
  std::filesystem::path folder = {};
};

// Runs in a fresh engine until the end or until memory runs out. Otherwise null, with the reason in `trouble` unless
// stopped.
std::shared_ptr<const record::Recording> measured_run(const record::Params& params, const ValidationTools& tools,
                                                      std::string& trouble);
bool ran_out(const record::Recording& run);

// Predicts and runs. `name` is for a kept recording. Empty if stopped.
std::optional<ComparedRun> validate_one(const record::Params& params, Predictions& predictions,
                                        const ValidationTools& tools, const std::string& name);

// A CSV row per comparison: as_line() first, with signed errors in percent.
std::string validation_head();
std::string validation_row(const ComparedRun& run);
// Replaces characters that end a cell or a row.
std::string as_cell(std::string text);

struct ValidationSummary {
  int compared = 0, with_trouble = 0;
  int ran_out = 0, wrong_outcome = 0;  // of the compared ones
  int equal_requested = 0, equal_allocated = 0, equal_reserved = 0;
  // Largest in magnitude, signed.
  double worst_requested = 0, worst_allocated = 0, worst_reserved = 0;
  double worst_category = 0;  // of the whole peak

  void add(const ComparedRun& run);
  std::string text() const;
};
// Parses a row of validation_row(); empty for other rows.
std::optional<ComparedRun> run_of_row(const std::string& row);

}  // namespace headroom::app
