#include "demos/record/file/first_steps.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <type_traits>
#include <utility>

namespace headroom::record {

namespace {

// Index of the first dropped mark; marks.size(): none.
std::size_t closing_mark(const std::vector<Mark>& marks, int steps) {
  bool begun = false;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const bool last = marks[i].step == steps - 1;
    if (begun && !last) return i;
    begun = begun || last;
  }
  return marks.size();
}

bool has_later_steps(const std::vector<Mark>& marks, int steps) {
  return std::ranges::any_of(marks, [&](const Mark& mark) { return mark.step >= steps; });
}

template <class Row, class Keep>
void append_some(Recording& result, const std::vector<Row>& rows, Keep keep) {
  std::vector<Row> kept;
  std::ranges::copy_if(rows, std::back_inserter(kept), keep);
  result.append(kept);
}

}  // namespace

Recording first_steps(const Recording& run, int steps) {
  const std::vector<Mark>& marks = run.marks();
  const std::size_t end = closing_mark(marks, steps);
  if (end == marks.size() || !has_later_steps(marks, steps)) return run;
  Mark closing = marks[end];
  closing.step = -1;  // otherwise it would begin an empty step

  RunInfo info = run.info();
  const auto asked = info.params.find("steps");
  info.provenance[std::string(kMemoryOf)] =
      std::to_string(steps) + (asked == info.params.end() ? " steps" : " of " + asked->second + " steps");
  Recording result(std::move(info));
  result.append_operators(0, run.operators());
  const std::span events = std::span(run.events()).first(closing.event_index);
  result.append(std::vector<MemEvent>(events.begin(), events.end()));
  std::vector<Mark> kept(marks.begin(), marks.begin() + static_cast<std::ptrdiff_t>(end));
  kept.push_back(closing);
  result.append(kept);

  std::set<std::uint64_t> storages;
  for (const MemEvent& event : events) storages.insert(event.storage);
  for_each_row_kind([&](const auto& kind) {
    using Row = RowOf<decltype(kind)>;
    const std::vector<Row>& rows = run.rows<Row>();
    if constexpr (std::is_same_v<Row, CounterSample>)
      append_some(result, rows, [&](const Row& row) { return row.time <= closing.host_time; });
    else if constexpr (std::is_same_v<Row, KernelSpan> || std::is_same_v<Row, Collective>)
      append_some(result, rows, [&](const Row& row) { return row.step < steps; });
    else if constexpr (std::is_same_v<Row, Placement>)
      append_some(result, rows, [&](const Row& row) { return storages.contains(row.storage); });
    else if constexpr (!std::is_same_v<Row, MemEvent> && !std::is_same_v<Row, Mark>)
      result.append(rows);
  });
  if (run.kernel_report()) result.set_kernel_report(*run.kernel_report());
  if (run.dropped_events() > 0) result.add_dropped(run.dropped_events());
  if (run.outcome()) result.set_outcome(*run.outcome());
  std::vector<std::shared_ptr<const Recording>> others;
  for (const auto& other : run.other_ranks())
    others.push_back(std::make_shared<const Recording>(first_steps(*other, steps)));
  result.set_other_ranks(std::move(others));
  return result;
}

}  // namespace headroom::record
