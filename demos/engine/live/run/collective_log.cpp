// Converts issued collectives to rows.
#include "demos/engine/live/run/collective_log.h"

#include <algorithm>
#include <utility>

namespace headroom::live {

void CollectiveLog::add(llama::IssuedCollective issued) {
  const record::Collective row{.issued = sink_.time_of(issued.issued),
                               .begin = sink_.time_of(issued.begin),
                               .end = sink_.time_of(issued.end),
                               .bytes = issued.bytes,
                               .sequence = issued.sequence,
                               .step = step_,
                               .layer = issued.tag.layer,
                               .micro_batch = issued.tag.micro_batch,
                               .ranks = static_cast<std::uint16_t>(issued.ranks),
                               .kind = issued.kind,
                               .axis = issued.axis,
                               .phase = issued.tag.phase};
  pending_.push_back({row, std::move(issued.device_begin), std::move(issued.device_end)});
}

void CollectiveLog::report() {
  std::vector<record::Collective> rows;
  rows.reserve(pending_.size());
  for (Pending& each : pending_) {
    if (each.begin && clock_ != nullptr) {
      const auto begin = clock_->time_of(each.begin.get()), end = clock_->time_of(each.end.get());
      if (begin && end) each.row.begin = *begin, each.row.end = std::max(*begin, *end);
    }
    rows.push_back(each.row);
  }
  pending_.clear();
  feed_.add(rows);
}

}  // namespace headroom::live
