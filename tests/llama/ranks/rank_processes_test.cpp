// Ranks as processes of one host: exact values, and a killed rank.
#include <fstream>
#include <string>

#include "demos/engine/llama/ranks/collectives.h"
#include "tests/llama/ranks/rank_children.h"
#include "tests/llama/ranks/rank_values.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("child: exact values", "[.]") {
  const auto collectives = llama::make_gloo_collectives(tests::place_of_child(), {});
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
    for (const bool in_place : {true, false}) CHECK(tests::values_are_right(*collectives, at::dtype(type), in_place));
}

TEST_CASE("child: sums until another rank ends", "[.]") {
  const protocol::RankPlace place = tests::place_of_child();
  const auto collectives = llama::make_gloo_collectives(place, {});
  const record::Scope scope(record::Tag{.phase = record::Phase::kBackward, .layer = 7});
  const at::Tensor tensor = at::ones({1 << 16});
  try {
    for (int round = 0;; ++round) {
      collectives->all_reduce({&tensor, 1});
      if (round == 2) std::ofstream(place.store + "/ready" + std::to_string(place.rank)) << round;
    }
  } catch (const llama::CollectiveError& error) {
    std::ofstream(place.store + "/error" + std::to_string(place.rank)) << error.what();
  }
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
  tests::RankChildren children("child: sums until another rank ends", 3);
  for (int rank = 0; rank < 3; ++rank)
    REQUIRE(tests::wait_until([&] { return !tests::text_of(children.file("ready" + std::to_string(rank))).empty(); }));
  children.kill(1);
  for (const int rank : {0, 2}) {
    const bool well = children.ended_well(rank);
    INFO(children.output(rank));
    CHECK(well);
    const std::string error = tests::text_of(children.file("error" + std::to_string(rank)));
    CHECK_THAT(error, ContainsSubstring("Rank " + std::to_string(rank) + " could not finish all-reduce "));
    CHECK_THAT(error, ContainsSubstring(" (backward, layer 7): another rank ended or lost its connection."));
  }
  CHECK_FALSE(children.ended_well(1));
}
