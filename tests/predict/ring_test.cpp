// Sums over ranks: where pieces go in a ring, and what each way sends and takes.
#include <set>
#include <vector>

#include "demos/predict/forms/ring.h"
#include "tests/support/catch.h"

using namespace headroom;
using predict::ring_piece;
using predict::ring_step;
using predict::RingStep;
using predict::sum_cost;
using predict::SumWay;

TEST_CASE("after a ring every rank has every piece of every rank") {
  for (const int ranks : {2, 3, 4, 7}) {
    CAPTURE(ranks);
    const auto n = static_cast<std::size_t>(ranks);
    // Whose numbers each rank's pieces sum.
    std::vector<std::vector<std::multiset<int>>> held(n, std::vector<std::multiset<int>>(n));
    for (std::size_t rank = 0; rank < n; ++rank)
      for (std::multiset<int>& piece : held[rank]) piece.insert(static_cast<int>(rank));
    for (int i = 0; i < predict::ring_steps(ranks); ++i) {
      const auto before = held;
      for (int rank = 0; rank < ranks; ++rank) {
        const RingStep step = ring_step(rank, ranks, i), previous = ring_step((rank + ranks - 1) % ranks, ranks, i);
        CHECK(step.receives == previous.sends);
        CHECK(step.sends != step.receives);
        const std::multiset<int>& arriving =
            before[static_cast<std::size_t>((rank + ranks - 1) % ranks)][static_cast<std::size_t>(previous.sends)];
        std::multiset<int>& own = held[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step.receives)];
        if (!step.sums) own.clear();
        own.insert(arriving.begin(), arriving.end());
      }
    }
    std::multiset<int> all;
    for (int rank = 0; rank < ranks; ++rank) all.insert(rank);
    for (const auto& pieces : held)
      for (const std::multiset<int>& piece : pieces) CHECK(piece == all);
  }
}

TEST_CASE("pieces of a buffer are nearly equal and leave nothing out") {
  std::int64_t next = 0;
  for (int i = 0; i < 7; ++i) {
    const predict::RingPiece piece = ring_piece(1000, 7, i);
    CHECK(piece.first == next);
    CHECK((piece.count == 142 || piece.count == 143));
    next += piece.count;
  }
  CHECK(next == 1000);
}

TEST_CASE("a ring sends at most twice the bytes, the root a buffer for each of the others") {
  constexpr record::Bytes kBuffer = 15'000'000'000;
  const predict::Link link{.bandwidth = 50e9, .latency = 1e-5};
  const auto sent = [&](SumWay way, int ranks) {
    return 1e-9 * static_cast<double>(sum_cost(way, kBuffer, ranks, link).sent);
  };
  CHECK(sent(SumWay::kRing, 2) == Approx(15));
  CHECK(sent(SumWay::kRing, 4) == Approx(22.5));
  CHECK(sent(SumWay::kRing, 8) == Approx(26.25));
  CHECK(sent(SumWay::kRing, 64) == Approx(29.53).margin(0.005));
  CHECK(sent(SumWay::kTree, 64) == Approx(90));
  CHECK(sent(SumWay::kTree, 5) == Approx(45));
  CHECK(sent(SumWay::kRoot, 64) == Approx(945));
  for (const auto& way : predict::kSumWays) {
    CHECK(sum_cost(way.meaning, kBuffer, 1, link).sent == 0);
    // With two ranks all ways send the buffer there and, or in halves, back.
    CHECK(sent(way.meaning, 2) == Approx(15));
  }
}

TEST_CASE("a sum takes the latency of its messages and its bytes over the link") {
  const predict::Link link{.bandwidth = 1e9, .latency = 1e-3};
  const auto seconds = [&](SumWay way, record::Bytes bytes, int ranks) {
    return sum_cost(way, bytes, ranks, link).seconds;
  };
  CHECK(seconds(SumWay::kRing, 1'000'000'000, 4) == Approx(6 * (0.001 + 0.25)));
  CHECK(seconds(SumWay::kTree, 1'000'000'000, 4) == Approx(4 * (0.001 + 1)));
  CHECK(seconds(SumWay::kRoot, 1'000'000'000, 4) == Approx(6 * (0.001 + 1)));
  // Few bytes over many ranks: messages decide.
  CHECK(seconds(SumWay::kTree, 1000, 1024) < seconds(SumWay::kRing, 1000, 1024) / 50);
  const record::Collective gather{.bytes = 1'000'000'000, .ranks = 4, .kind = record::CollectiveKind::kAllGather};
  CHECK(predict::ring_seconds(gather, link) == Approx(3 * (0.001 + 0.25)));
}
