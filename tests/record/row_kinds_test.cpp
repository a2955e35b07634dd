// Every kind of row has a unique number and survives a round trip.
#include <set>

#include "demos/record/quantile.h"
#include "demos/record/recording.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"

using namespace headroom::record;
using headroom::tests::TemporaryFolder;

namespace {

// More rows of each kind than fit in a chunk.
Recording many_rows() {
  Recording made(RunInfo{.demo = "train_step"});
  for_each_row_kind([&](const auto& kind) {
    made.append(std::vector<RowOf<decltype(kind)>>(std::min<std::size_t>(kind.per_chunk + 1, kind.most)));
  });
  made.set_outcome({});
  return made;
}

}  // namespace

TEST_CASE("each kind of row has its own chunk number and name") {
  std::set<ChunkKind> numbers;
  std::set<std::string> names;
  for_each_row_kind([&](const auto& kind) {
    CHECK(numbers.insert(kind.chunk).second);
    CHECK(names.insert(kind.name).second);
  });
  CHECK(numbers.size() == RowKinds::kCount);
}

TEST_CASE("rows of every kind survive a round trip") {
  const TemporaryFolder folder;
  const Recording made = many_rows();
  REQUIRE(made.write(folder / "rows.hrec").ok());
  const Result<Recording> read = Recording::read(folder / "rows.hrec");
  REQUIRE(read.ok());
  for_each_row_kind([&](const auto& kind) {
    INFO(kind.name);
    CHECK_FALSE(made.rows<RowOf<decltype(kind)>>().empty());
    CHECK((read.value().rows<RowOf<decltype(kind)>>() == made.rows<RowOf<decltype(kind)>>()));
  });
}

TEST_CASE("chunks of every kind have at most the table's number of rows") {
  const Recording made = many_rows();
  for_each_row_kind([&](const auto& kind) {
    INFO(kind.name);
    int chunks = 0;
    Recording grown;
    encode_chunks(made.rows<RowOf<decltype(kind)>>(), [&](const std::vector<std::byte>& chunk) {
      ++chunks;
      CHECK(grown.append_chunk(chunk).ok());
    });
    CHECK(chunks == 2);
    CHECK((grown.rows<RowOf<decltype(kind)>>() == made.rows<RowOf<decltype(kind)>>()));
  });
}

TEST_CASE("a rank sends what nccl-tests count for a ring") {
  const auto sent = [](CollectiveKind kind, Bytes bytes, std::uint16_t ranks) {
    return sent_bytes({.bytes = bytes, .ranks = ranks, .kind = kind});
  };
  CHECK(sent(CollectiveKind::kAllReduce, 1'000, 4) == 1'500);
  CHECK(sent(CollectiveKind::kReduceScatter, 1'000, 4) == 750);
  CHECK(sent(CollectiveKind::kAllGather, 1'000, 4) == 750);
  CHECK(sent(CollectiveKind::kAllToAll, 1'000, 4) == 750);
  CHECK(sent(CollectiveKind::kBroadcast, 1'000, 4) == 1'000);
  CHECK(sent(CollectiveKind::kSend, 1'000, 2) == 1'000);
  CHECK(sent(CollectiveKind::kReceive, 1'000, 2) == 0);
  CHECK(sent(CollectiveKind::kAllReduce, 1'000, 1) == 0);
  CHECK(sent(CollectiveKind::kAllGather, kMostBytes, 0xffff) == kMostBytes - kMostBytes / 0xffff - 1);
}

TEST_CASE("the time of collectives that overlap counts once") {
  const auto row = [](Nanoseconds begin, Nanoseconds end, std::int32_t step) {
    return Collective{
        .begin = begin, .end = end, .bytes = 100, .step = step, .ranks = 2, .kind = CollectiveKind::kSend};
  };
  const std::vector<Collective> rows{row(50, 70, 0), row(10, 30, 0), row(15, 20, 0), row(25, 40, 0), row(0, 1000, 1)};
  CHECK(sums_of(rows, 0).count == 4);
  CHECK(sums_of(rows, 0).time == 30 + 20);
  CHECK(sums_of(rows, -1).time == 1000);
  CHECK(sums_of({}, -1).time == 0);
}

TEST_CASE("quantiles interpolate linearly between neighbors") {
  const Quantiles of_four = quantiles_of({4, 1, 3, 2});
  CHECK(of_four.median == 2.5);
  CHECK(of_four.low == Approx(1.6));
  CHECK(of_four.high == Approx(3.4));
  CHECK(of_four.samples == 4);
  CHECK(quantiles_of({7}).median == 7);
  CHECK(quantiles_of({}).samples == 0);
}
