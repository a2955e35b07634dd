// Connects the ranks of a run, one engine process each.
#pragma once

#include <cstdint>

#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/llama/ranks/step_ranks.h"
#include "demos/predict/parallel.h"
#include "demos/record/result.h"

namespace headroom::experiments {

struct RunRanks {
  int rank = 0;  // of this process
  // Refers to the run's setting. Throws llama::CollectiveError.
  llama::MakeCollectives make;
};

// Refuses a run of `ranks` if another number of engines was started. A plan needs one engine: it is rank 0.
record::Result<RunRanks> run_ranks(std::int64_t ranks, const RunSetting& setting,
                                   const predict::CommunicatorBlocks& blocks = {});

}  // namespace headroom::experiments
