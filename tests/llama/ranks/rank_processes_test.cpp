// Ranks as processes of one host: exact values, and a killed rank.
#include <fstream>
#include <string>
#include <utility>

#include "demos/engine/llama/ranks/collectives.h"
#include "demos/engine/llama/ranks/ring_sum.h"
#include "tests/llama/ranks/rank_children.h"
#include "tests/llama/ranks/rank_values.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("child: exact values", "[.]") {
  const auto collectives = llama::make_gloo_collectives(tests::place_of_child(), {});
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
    for (const bool in_place : {true, false}) CHECK(tests::values_are_right(*collectives, at::dtype(type), in_place));
}

namespace {

// Repeats the call until it fails, and writes why.
template <class Call>
void until_another_rank_ends(const Call& call) {
  const protocol::RankPlace place = tests::place_of_child();
  const auto collectives = llama::make_gloo_collectives(place, {});
  const record::Scope scope(record::Tag{.phase = record::Phase::kBackward, .layer = 7});
  try {
    for (int round = 0;; ++round) {
      call(*collectives);
      if (round == 2) std::ofstream(place.store + "/ready" + std::to_string(place.rank)) << round;
    }
  } catch (const llama::CollectiveError& error) {
    std::ofstream(place.store + "/error" + std::to_string(place.rank)) << error.what();
  }
}

}  // namespace

TEST_CASE("child: sums until another rank ends", "[.]") {
  const at::Tensor tensor = at::ones({1 << 16});
  until_another_rank_ends([&](llama::Collectives& collectives) { collectives.all_reduce({&tensor, 1}); });
}

TEST_CASE("child: rings until another rank ends", "[.]") {
  const at::Tensor buffer = at::zeros({1 << 16}), scratch = at::zeros({1 << 16});
  until_another_rank_ends([&](llama::Collectives& collectives) { llama::ring_sum(collectives, buffer, scratch); });
}

TEST_CASE("ranks in processes of their own exchange exact values") {
  for (const int ranks : {2, 3}) {
    tests::RankChildren children("child: exact values", ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      const bool well = children.ended_well(rank);
      INFO(children.output(rank));
      CHECK(well);
    }
  }
}

// gloo's own limit of a collective is 24 hours, so ranks that end have noticed the death itself.
TEST_CASE("a killed rank ends the others with one sentence") {
  const auto [child, what] = GENERATE(values<std::pair<const char*, const char*>>(
      {{"child: sums until another rank ends", "all-reduce "}, {"child: rings until another rank ends", "send "}}));
  tests::RankChildren children(child, 3);
  for (int rank = 0; rank < 3; ++rank)
    REQUIRE(tests::wait_until([&] { return !tests::text_of(children.file("ready" + std::to_string(rank))).empty(); }));
  children.kill(1);
  for (const int rank : {0, 2}) {
    const bool well = children.ended_well(rank);
    INFO(children.output(rank));
    CHECK(well);
    const std::string error = tests::text_of(children.file("error" + std::to_string(rank)));
    CHECK_THAT(error, ContainsSubstring("Rank " + std::to_string(rank) + " could not finish " + what));
    CHECK_THAT(error, ContainsSubstring(" (backward, layer 7): another rank ended or lost its connection."));
  }
  CHECK_FALSE(children.ended_well(1));
}
