// Live tensors at one event, and memory levels from requested bytes to the whole device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lessons/figure.h"

namespace headroom::lessons {

// Merges rows of equal name and keeps the `max_rows` largest; the rest goes into `more_*`. The caller sets `position`,
// `at_cursor` and `when`.
AliveList alive_list(const record::Ledger& run, std::uint64_t event, int max_rows);

// The levels that were measured.
std::vector<MemoryLevel> levels_at(const record::Ledger& run, std::uint64_t event);

// "37.7 ms" in the axis's unit; "1,234" for the last event at or before `position`.
std::string position_text(double position, const Axis& axis);

std::string when_text(const record::Recording& recording, std::uint64_t event, double position, const Axis& axis);

// The last sample at or before `time`, else the first.
std::optional<std::int64_t> counter_at(const record::Recording& recording, record::CounterKind kind,
                                       record::Nanoseconds time);

}  // namespace headroom::lessons
