// A step's micro-batches from few that were traced: those between the first and the last allocate the same, and tracing
// each of them takes time.
//
// A recording with few micro-batches has fewer in each step than its settings say.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "demos/predict/step_settings.h"
#include "demos/record/recording.h"

namespace headroom::predict {

inline constexpr std::string_view kMicroBatches = "accumulate";  // the parameter of a step that says how many it has

// How many micro-batches of each step have to be traced. The first makes the gradients, the second finds them; if the
// gradients leave for the host, the last one differs, too.
std::int64_t traced_micro_batches(const StepSettings& step);

// How many micro-batches the steps of this recording have; 1 without steps.
std::int64_t micro_batches_in(const record::Recording& run);

// A trace with fewer micro-batches, as a recording with few micro-batches of `settings`: token ids, which a step has
// for all its micro-batches at once, get their whole size. Nothing: the second micro-batch leaves something other than
// it found, and cannot be repeated.
std::optional<record::Recording> few_micro_batches(const record::Recording& trace, const record::RunInfo& settings);

// With `count` micro-batches in each step of those of its settings, 0: all. Equals the trace with so many, storages
// numbered in order of birth.
record::Recording with_micro_batches(record::Recording few, std::int64_t count = 0);

// placed(), with as many micro-batches as it takes until the allocator places one like the one before it. It then does
// so with all that follow, so the totals, and whether the run completes, are those of placing all. A recording that has
// all its micro-batches is placed as it is.
record::Recording placed_until_alike(const record::Recording& few, record::Bytes limit = 0);

}  // namespace headroom::predict
