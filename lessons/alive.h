// What is alive at one event, ranked and in words; and the memory levels from requested bytes to the whole device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lessons/figure.h"

namespace headroom::lessons {

// Rows of one name are one row. At most `max_rows`, largest first; what is left goes into `more_*`. `position`,
// `at_cursor` and `when` are the caller's to set.
AliveList alive_list(const record::Ledger& run, std::uint64_t event, int max_rows);

// Levels that something measured, at that event.
std::vector<MemoryLevel> levels_at(const record::Ledger& run, std::uint64_t event);

// "37.7 ms", in the axis's unit; on the axis of events "1,234", the last event at or before it.
std::string position_text(double position, const Axis& axis);

// "37.7 ms, loss", "19.1 ms, forward, layer 9", "event 1,234, set-up": `position` on that axis.
std::string when_text(const record::Recording& recording, std::uint64_t event, double position, const Axis& axis);

// The last sample of that kind at or before `time`, else the first; nothing where there is none.
std::optional<std::int64_t> counter_at(const record::Recording& recording, record::CounterKind kind,
                                       record::Nanoseconds time);

}  // namespace headroom::lessons
