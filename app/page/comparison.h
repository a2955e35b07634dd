// Two runs in a few numbers, side by side. No drawing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/ledger.h"

namespace headroom::app::page {

// The latest value; empty where the run measured none.
std::optional<double> last_metric(const record::Recording& run, record::MetricKind kind);

// Run B against the pinned run A. What only one of them has is left out.
struct Comparison {
  struct Row {
    std::string_view head;  // "Peak"
    std::string a, b;       // "26.64 GiB"
    std::string change;     // "−4.38 GiB"
    std::string share;      // "−16 %"; may be empty
  };
  std::vector<Row> rows;  // none: there is nothing to compare
  std::string a, b;       // the difference of the runs, "Checkpointing off"; empty: they have the same settings
};
Comparison compare_runs(const record::Ledger& a, const record::Ledger& b);

// Settings of a training step beyond those that its provenance names: "Optimizer AdamW, 8-bit moments". Empty: nothing.
std::string techniques_of(const record::RunInfo& run);

}  // namespace headroom::app::page
