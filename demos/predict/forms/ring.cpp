// Computes bytes and times of sums.
#include "demos/predict/forms/ring.h"

#include <bit>

namespace headroom::predict {

double ring_seconds(const record::Collective& collective, const Link& link) {
  const bool two_rounds = collective.kind == record::CollectiveKind::kAllReduce;
  const int messages = ring_steps(collective.ranks) / (two_rounds ? 1 : 2);
  return messages * link.latency + static_cast<double>(record::sent_bytes(collective)) / link.bandwidth;
}

SumCost sum_cost(SumWay way, record::Bytes bytes, int ranks, const Link& link) {
  if (ranks <= 1) return {};
  const auto whole = static_cast<double>(bytes) / link.bandwidth;
  const int others = ranks - 1, levels = std::bit_width(static_cast<unsigned>(others));  // log₂ N, rounded up
  switch (way) {
    case SumWay::kRing: {
      const record::Collective sum{.bytes = bytes, .ranks = static_cast<std::uint16_t>(ranks)};
      return {.sent = record::sent_bytes(sum), .seconds = ring_seconds(sum, link)};
    }
    case SumWay::kTree:
      return {.sent = levels * bytes, .seconds = 2 * levels * (link.latency + whole)};
    case SumWay::kRoot:
      return {.sent = others * bytes, .seconds = 2 * others * (link.latency + whole)};
  }
  return {};
}

}  // namespace headroom::predict
