#include "demos/engine/llama/ranks/rank_clock.h"

#include <limits>
#include <string>

namespace headroom::llama {
namespace {

using record::Nanoseconds;

constexpr int kRounds = 20;

std::string key(const char* what, int rank, int round) {
  return "clock/" + std::to_string(rank) + "/" + std::to_string(round) + "/" + what;
}

void answer(c10d::Store& store, int ranks, const std::function<Nanoseconds()>& now) {
  for (int rank = 1; rank < ranks; ++rank) {
    for (int round = 0; round < kRounds; ++round) {
      store.wait({key("asks", rank, round)});
      store.set(key("answer", rank, round), std::to_string(now()));
    }
  }
}

}  // namespace

ClockDifference measure_clock(c10d::Store& store, int rank, int ranks, const std::function<Nanoseconds()>& now) {
  if (rank == 0) {
    answer(store, ranks, now);
    return {};
  }
  ClockDifference best{.uncertainty = std::numeric_limits<Nanoseconds>::max()};
  for (int round = 0; round < kRounds; ++round) {
    const Nanoseconds asked = now();
    store.set(key("asks", rank, round), std::string("1"));
    const Nanoseconds there = std::stoll(store.get_to_str(key("answer", rank, round)));
    const Nanoseconds half = (now() - asked) / 2;
    if (half < best.uncertainty) best = {.ahead = there - (asked + half), .uncertainty = half};
  }
  return best;
}

}  // namespace headroom::llama
