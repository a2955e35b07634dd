// The clocks of ranks on several hosts, played by threads.
#include <chrono>
#include <cstdlib>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "demos/engine/llama/ranks/rank_clock.h"
#include "tests/llama/ranks/rank_threads.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("a rank measures how far the first rank's clock is ahead, within its uncertainty") {
  constexpr int kRanks = 3;
  constexpr record::Nanoseconds kApart = 5'000'000'000;  // each rank's clock is 5 s ahead of the one before
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const auto found = tests::in_threads<llama::ClockDifference>(kRanks, [&](int rank) {
    return llama::measure_clock(*store, rank, kRanks, [rank] {
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() + rank * kApart;
    });
  });
  CHECK(found[0].ahead == 0);
  for (int rank = 1; rank < kRanks; ++rank) {
    const llama::ClockDifference& each = found[static_cast<std::size_t>(rank)];
    CHECK(each.uncertainty < kApart);
    CHECK(std::abs(each.ahead + rank * kApart) <= each.uncertainty + 1);
  }
}
