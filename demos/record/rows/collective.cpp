// Labels and sums of collectives.
#include "demos/record/rows/collective.h"

#include <array>

namespace headroom::record {

std::string_view label_of(CollectiveKind kind) {
  static constexpr std::array<std::string_view, 8> kLabels = {"all-reduce", "reduce-scatter", "all-gather", "broadcast",
                                                              "send",       "receive",        "all-to-all", "barrier"};
  return kLabels.at(static_cast<std::size_t>(kind));
}

CollectiveSums sums_of(std::span<const Collective> collectives, std::int32_t step) {
  CollectiveSums sums;
  for (const Collective& each : collectives) {
    if (step >= 0 && each.step != step) continue;
    ++sums.count;
    sums.sent += sent_bytes(each);
    sums.time += each.end - each.begin;
  }
  return sums;
}

}  // namespace headroom::record
