// Repeats traced micro-batches: all between the first and the last allocate alike, and tracing takes time. A
// recording with few micro-batches has fewer per step than its settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "demos/predict/step_settings.h"
#include "demos/record/recording.h"

namespace headroom::predict {

inline constexpr std::string_view kMicroBatches = "accumulate";  // a step's number of micro-batches

// Micro-batches to trace per step. The first allocates gradients, the second adds to them; the last one differs if
// gradients move to the host.
std::int64_t traced_micro_batches(const StepSettings& step);

// Converts a trace to a recording with few micro-batches of `settings`. Token ids, which a step holds for all
// micro-batches, get their full size. nullopt if the second micro-batch leaves other memory than it found.
std::optional<record::Recording> few_micro_batches(const record::Recording& trace, const record::RunInfo& settings);

// Extends every step to `count` micro-batches; 0: all. Equals the full trace, storages numbered in order of birth.
record::Recording with_micro_batches(record::Recording few, std::int64_t count = 0);

// placed() with only as many micro-batches as it takes until one is placed like its predecessor. All later ones are
// then placed alike, so totals and outcome are those of the full run.
record::Recording placed_until_alike(const record::Recording& few, record::Bytes limit = 0);

}  // namespace headroom::predict
