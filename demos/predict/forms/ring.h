// Ways to sum a buffer over ranks: who sends which piece in a ring, and what the busiest rank sends in each way.
#pragma once

#include <array>
#include <cstdint>

#include "demos/predict/techniques.h"
#include "demos/record/rows/collective.h"
#include "demos/record/units.h"

namespace headroom::predict {

// One step of one rank in a ring: it sends a piece to the next rank while it receives one from the previous rank.
struct RingStep {
  int sends = 0, receives = 0;  // pieces, from 0
  bool sums = false;            // true: adds the received piece to its own; false: the piece is complete
};

// N − 1 steps of reduce-scatter, after which each rank has one complete piece, and N − 1 steps of all-gather.
constexpr int ring_steps(int ranks) { return 2 * (ranks - 1); }

// `step` counts from 0. Rank 0 of 4 sends the pieces 0, 3, 2, then 1, 0, 3.
constexpr RingStep ring_step(int rank, int ranks, int step) {
  const auto piece = [&](int index) { return (index + 2 * ranks) % ranks; };
  return {.sends = piece(rank - step), .receives = piece(rank - step - 1), .sums = step < ranks - 1};
}

// Piece `index` of a buffer in N nearly equal pieces.
struct RingPiece {
  std::int64_t first = 0, count = 0;
};
constexpr RingPiece ring_piece(std::int64_t elements, int ranks, int index) {
  const std::int64_t first = elements * index / ranks;
  return {.first = first, .count = elements * (index + 1) / ranks - first};
}

enum class SumWay : std::uint8_t { kRing, kTree, kRoot };
inline constexpr std::array kSumWays{
    Meant<SumWay>{{"ring", "ring"}, SumWay::kRing},
    Meant<SumWay>{{"tree", "tree"}, SumWay::kTree},
    Meant<SumWay>{{"root", "all to one"}, SumWay::kRoot},
};

// The time for n bytes over a link is latency + n / bandwidth, in each direction at once.
struct Link {
  double bandwidth = 1;  // bytes/s
  double latency = 0;    // seconds
};

// The time of a collective over several ranks in a ring, where each message has the same size: all-reduce
// 2 (N − 1) messages, reduce-scatter, all-gather and all-to-all N − 1.
double ring_seconds(const record::Collective& collective, const Link& link);

struct SumCost {
  record::Bytes sent = 0;  // by the busiest rank
  double seconds = 0;
};
// Ring: 2 (N − 1) steps, each with an N-th of the buffer. Tree: log₂ N levels, rounded up, in which pairs sum whole
// buffers, and the same levels back; the root sends on each. Root: N − 1 ranks send the whole buffer to one rank, which
// sends the sum back to each. 15 GB, 64 ranks: 29.53, 90 and 945 GB.
SumCost sum_cost(SumWay way, record::Bytes bytes, int ranks, const Link& link);

}  // namespace headroom::predict
