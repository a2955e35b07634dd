// Copies a recording, changing or inserting events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "demos/record/recording.h"

namespace headroom::predict {

// The first unused number of a storage or segment.
inline std::uint64_t next_storage(const record::Recording& recording) {
  std::uint64_t next = 1;
  for (const record::MemEvent& event : recording.events()) next = std::max(next, event.storage + 1);
  return next;
}

// `take` appends an event's replacement to the list; if it returns false, the recording ends. Marks keep their place
// and pass through `change`. Other rows are copied, except placements.
template <class Take, class Change>
record::Recording rewritten(const record::Recording& source, Take take, Change change) {
  record::Recording result(source.info());
  result.append_operators(0, source.operators());
  std::vector<record::MemEvent> events;
  std::vector<std::uint64_t> places;  // index in `events`, for each event of the source
  bool whole = true;
  for (const record::MemEvent& event : source.events()) {
    places.push_back(events.size());
    whole = take(event, events);
    if (!whole) break;
  }
  result.append(events);
  std::vector<record::Mark> marks;
  for (record::Mark mark : source.marks()) {
    if (!whole && mark.event_index >= places.size()) break;
    mark.event_index = mark.event_index < places.size() ? places[mark.event_index] : events.size();
    change(mark);
    marks.push_back(mark);
  }
  result.append(marks);
  record::for_each_row_kind([&](const auto& kind) {
    using Row = record::RowOf<decltype(kind)>;
    constexpr bool kMade = std::is_same_v<Row, record::MemEvent> || std::is_same_v<Row, record::Mark> ||
                           std::is_same_v<Row, record::Placement>;
    if constexpr (!kMade) result.append(source.rows<Row>());
  });
  if (whole && source.outcome()) result.set_outcome(*source.outcome());
  return result;
}

template <class Take>
record::Recording rewritten(const record::Recording& source, Take take) {
  return rewritten(source, take, [](record::Mark&) {});
}

}  // namespace headroom::predict
