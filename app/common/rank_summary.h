// The ranks of a run, one line each: memory, traffic, time in collectives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/record/ledger.h"
#include "demos/record/rows/collective.h"
#include "demos/record/units.h"

namespace headroom::app {

struct RankSummary {
  std::int32_t rank = 0;
  record::Bytes peak = 0, requested = 0, reserved = 0;
  // In the last whole step; 0 without one.
  record::CollectiveSums collectives;
  record::Nanoseconds step = 0;
};

// Empty for a run of one rank, and before its first event.
std::vector<RankSummary> summarise_ranks(const record::Ledger& first);
nlohmann::json ranks_json(const std::vector<RankSummary>& ranks);
// Lines like those of a run's summary.
std::string ranks_text(const std::vector<RankSummary>& ranks);

}  // namespace headroom::app
