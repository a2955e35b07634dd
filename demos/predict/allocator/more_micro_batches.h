// Repeats traced micro-batches, since tracing takes time and all micro-batches between the first and the last allocate
// alike. A recording with few micro-batches has fewer per step than its settings say.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "demos/predict/step_settings.h"
#include "demos/record/recording.h"

namespace headroom::predict {

inline constexpr std::string_view kMicroBatches = "accumulate";

// Micro-batches to trace per step. The first allocates gradients, the second adds to them; the last one differs if
// gradients move to the host.
std::int64_t traced_micro_batches(const StepSettings& step);

// Converts a trace to a recording of `settings` with few micro-batches. Token ids, which a step stores for all
// micro-batches, get their full size. Returns nullopt if the second micro-batch does not restore the memory that it
// found.
std::optional<record::Recording> few_micro_batches(const record::Recording& trace, const record::RunInfo& settings);

// Extends every step to `count` micro-batches; 0: all, as in the full trace with storages numbered in order of birth.
record::Recording with_micro_batches(record::Recording few, std::int64_t count = 0);

// Like placed(), but adds micro-batches only until one is placed like its predecessor. All later ones would be placed
// alike, so totals and outcome equal those of the full run.
record::Recording placed_until_alike(const record::Recording& few, record::Bytes limit = 0);

}  // namespace headroom::predict
