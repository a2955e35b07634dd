// Predicted steps beside real ones: each configuration is predicted, run in a fresh engine, and compared.
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
  // (predicted − measured) / measured; 0 where both are.
  double error() const;
};

// A configuration, with what was said and what was.
struct ComparedRun {
  record::Params params;
  std::string trouble;  // why there is nothing to compare: one sentence; empty: none
  bool predicted_to_run_out = false, ran_out = false;
  // Highest of the whole run; of one that ran out, until then.
  ComparedBytes requested, allocated;
  ComparedBytes reserved;                                           // 0 where there are no segments
  std::array<ComparedBytes, record::kNumCategories> by_category{};  // at the highest allocated total
  // What the process took beside the allocator when the run ended, as the driver says; 0: not known.
  record::Bytes process = 0;
};

// Two recordings of the same settings.
ComparedRun compare_peaks(const record::Params& params, const record::Recording& predicted,
                          const record::Recording& measured);

// What a comparison is made with.
struct ValidationTools {
  std::function<std::unique_ptr<backend::Backend>()> make;  // an engine that is ready and has run nothing
  std::mutex& device;                                       // held while a run is on
  std::function<bool()> stop = [] { return false; };        // ends a comparison early
  // Of a run that differs from its prediction, NAME.hrec; empty: none is kept.
  std::filesystem::path folder = {};
};

// Runs in a fresh engine, to its end or until memory runs out; else null, and `trouble` says why, unless it was
// stopped.
std::shared_ptr<const record::Recording> measured_run(const record::Params& params, const ValidationTools& tools,
                                                      std::string& trouble);
bool ran_out(const record::Recording& run);

// Predicts and runs. `name`: of the recording, where it is kept. Nothing: stopped.
std::optional<ComparedRun> validate_one(const record::Params& params, Predictions& predictions,
                                        const ValidationTools& tools, const std::string& name);

// A table of comparisons: a row each, its first column as_line(), with signed errors in per cent.
std::string validation_head();
std::string validation_row(const ComparedRun& run);
// Nothing of a sentence ends a cell or a row.
std::string as_cell(std::string text);

// What all rows of a table say together.
struct ValidationSummary {
  int compared = 0, with_trouble = 0;
  int ran_out = 0, wrong_outcome = 0;  // of the compared ones
  int equal_requested = 0, equal_allocated = 0, equal_reserved = 0;
  // The largest in size, signed.
  double worst_requested = 0, worst_allocated = 0, worst_reserved = 0;
  double worst_category = 0;  // as a part of the whole peak

  void add(const ComparedRun& run);
  std::string text() const;
};
// Of the rows of a table that were written before; nothing: the row is none of ours.
std::optional<ComparedRun> run_of_row(const std::string& row);

}  // namespace headroom::app
