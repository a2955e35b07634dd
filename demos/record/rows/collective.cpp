// Labels and sums of collectives.
#include "demos/record/rows/collective.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace headroom::record {

std::string_view label_of(CollectiveKind kind) {
  static constexpr std::array<std::string_view, 8> kLabels = {"all-reduce", "reduce-scatter", "all-gather", "broadcast",
                                                              "send",       "receive",        "all-to-all", "barrier"};
  return kLabels.at(static_cast<std::size_t>(kind));
}

CollectiveSums sums_of(std::span<const Collective> collectives, std::int32_t step) {
  CollectiveSums sums;
  std::vector<std::pair<Nanoseconds, Nanoseconds>> spans;
  for (const Collective& each : collectives) {
    if (step >= 0 && each.step != step) continue;
    ++sums.count;
    sums.sent += sent_bytes(each);
    spans.emplace_back(each.begin, each.end);
  }
  std::ranges::sort(spans);  // a send and its receive, for example, take their common time once
  Nanoseconds covered = std::numeric_limits<Nanoseconds>::min();  // all spans so far end by then
  for (const auto& [begin, end] : spans) {
    sums.time += std::max<Nanoseconds>(end - std::max(begin, covered), 0);
    covered = std::max(covered, end);
  }
  return sums;
}

}  // namespace headroom::record
