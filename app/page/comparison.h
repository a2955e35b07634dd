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
    std::string_view head;           // "Peak"
    std::string a, b;                // "26.64 GiB"; both and `change` are in the larger one's unit
    std::string change;              // "−4.38 GiB", or "within noise"; empty: a run ended early
    std::string share;               // "−16 %"; may be empty
    bool told = true;                // false: `change` says in words why there is no difference to tell
    std::string spread_a, spread_b;  // "1.60 s to 1.66 s, p20 to p80 of 9 steps"; empty: not measured over steps
  };
  std::vector<Row> rows;  // none: there is nothing to compare
  std::string a, b;       // the difference of the runs, "Checkpointing off"; empty: they have the same settings
  std::string early_end;  // "B: out of memory"; empty: both ran to their end
};
Comparison compare_runs(const record::Ledger& a, const record::Ledger& b);

// Settings of a training step beyond those that its provenance names: "Optimizer AdamW, 8-bit moments". Empty: nothing.
std::string techniques_of(const record::RunInfo& run);

}  // namespace headroom::app::page
