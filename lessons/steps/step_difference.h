// Compares the memory of two runs' steps: by kind and by layer at the peak, and the peak in each phase.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/steps/paired_events.h"

namespace headroom::lessons {

struct DifferenceRow {
  std::string name;
  std::optional<record::Category> category = {};
  record::Bytes other = 0, run = 0;

  record::Bytes change() const { return run - other; }
};

struct StepDifference {
  PairedEvents pairs;
  DifferenceRow peak;
  // `layers` joins neighbors with equal bytes: "layers 0 to 15, each".
  std::vector<DifferenceRow> kinds, phases, layers;
};

// `step` and `other_step` are whole steps of these runs.
StepDifference step_difference(const record::Ledger& run, const record::StepRange& step, const record::Ledger& other,
                               const record::StepRange& other_step);

// "Equal to the byte: 6,268 events", or how many events are equal before the first that differs.
std::string difference_words(const StepDifference& difference);

}  // namespace headroom::lessons
