// The collectives of a training step with several ranks, and the bytes that a rank sends.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/parallel.h"
#include "demos/predict/step_settings.h"
#include "demos/record/rows/collective.h"

namespace headroom::predict {

// One row per collective, without times; `phase` is the one that needs its result. Weights are gathered once for
// forward and once for backward (kWeights), or after the update (kOptimizer, kGradients); gradients leave after the
// last micro-batch or, if ranks share them, after each. Rajbhandari et al. 2020, arXiv:1910.02054, section 7. Excludes
// the few bytes of the loss, the norm of the gradients and the overflow flag.
std::vector<record::Collective> step_collectives(const StepSettings& step);

struct RankTraffic {
  record::Bytes forward = 0, backward = 0, update = 0;

  record::Bytes sum() const { return forward + backward + update; }
};
// Bytes that one rank sends per step in a ring. 1B in bf16, N = 4: 3.707 GB with data parallelism, 5.561 GB with
// ZeRO-3.
RankTraffic rank_traffic(const StepSettings& step);
// The sum for weights and gradients that divide into equal slices; gradients are summed in their own format. 7.5·10⁹
// parameters in 16 bits, 64 ranks: 29.53 GB, with ZeRO-3 44.30 GB.
record::Bytes sent_per_step(const StaticMemory& whole, const ParallelSettings& parallel, std::int64_t micro_batches);

}  // namespace headroom::predict
