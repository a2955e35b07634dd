// Compares two runs in a few numbers. No drawing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/ledger.h"

namespace headroom::app::page {

// The last finite value.
std::optional<double> last_metric(const record::Recording& run, record::MetricKind kind);

// Run B against the pinned run A, in quantities that both have.
struct Comparison {
  struct Row {
    std::string_view head;           // "Peak"
    std::string a, b;                // "26.64 GiB", in the larger value's unit like `change`
    std::string change;              // "−4.38 GiB", or "within noise"; empty: a run ended early
    std::string share;               // "−16 %"
    bool told = true;                // false: no difference is given; `change` says why
    std::string spread_a, spread_b;  // "1.60 s to 1.66 s, p20 to p80 of 9 steps"
  };
  std::vector<Row> rows;
  std::string a, b;       // settings that differ, "Checkpointing off"
  std::string early_end;  // "B: out of memory"
};
Comparison compare_runs(const record::Ledger& a, const record::Ledger& b);

// Techniques other than the defaults and those of the provenance line: "Optimizer AdamW, 8-bit moments".
std::string techniques_of(const record::RunInfo& run);

}  // namespace headroom::app::page
