// A run in a few numbers, for the command line, the window and JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/common/rank_summary.h"
#include "demos/record/ledger.h"
#include "demos/record/recording.h"
#include "demos/record/rows/sweep_point.h"
#include "demos/record/units.h"

namespace headroom::app {

struct RunSummary {
  const record::Recording* run = nullptr;  // must outlive the summary
  record::Outcome outcome;                 // engine_lost, with the reason, if the recording has no outcome
  std::string device;                      // the device's name, or "gpu" or "cpu"

  record::SweptPeak peak;
  std::optional<record::Bytes> allocator_peak;  // highest total that the allocator reported

  int steps = 0;
  std::optional<record::Quantity> tokens_per_second;       // see over_steps()
  std::optional<double> loss;                              // of the last step
  std::vector<std::optional<double>> losses;               // per step; empty if skipped or not a number
  std::map<int, std::optional<double>> evaluation_losses;  // by completed steps; empty if the loss is not a number
  std::string tokens;                                      // source of the tokens: "ids of a.npy"; empty: unknown
  bool bytes_as_tokens = false;                            // a checkpoint was given bytes, not token ids
  std::int64_t skipped_steps = 0;                          // steps skipped because a gradient overflowed
  std::vector<record::Measurement> bandwidths;             // rows of file traffic cover all steps
  std::vector<RankSummary> ranks;                          // empty for one rank
};

RunSummary summarise(const record::Ledger& ledger);

// Step times or speeds: the median and the 20th and 80th percentiles without the first step, a warm-up. A single step
// has no spread. Empty if none was measured.
std::optional<record::Quantity> over_steps(const record::Recording& recording, record::MetricKind kind);

// A run's prediction, which the caller asks the planner for.
struct PredictedPeak {
  std::optional<record::Bytes> allocated;  // empty: not predicted
  bool out_of_memory = false;
  std::string why_not;
};

// One JSON document that ends with a newline. `losses` has one entry per step, null where RunSummary::losses is empty;
// evaluation_losses is a list of {"steps", "loss"}.
std::string to_json(const RunSummary& summary, const std::optional<PredictedPeak>& predicted = std::nullopt);

std::string to_text(const RunSummary& summary, const std::optional<PredictedPeak>& predicted = std::nullopt);

// "78.60 MiB: equal to the byte", "78.90 MiB, 0.4 % more".
std::string predicted_words(record::Bytes predicted, record::Bytes measured);

std::string outcome_words(record::OutcomeKind outcome);

std::string explain(const record::OutOfMemoryFacts& facts);

}  // namespace headroom::app
