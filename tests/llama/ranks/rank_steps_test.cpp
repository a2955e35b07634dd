// Steps of several ranks: losses equal those of one rank, and allocations equal the plan, for every scheme.
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "tests/llama/ranks/rank_children.h"
#include "tests/llama/ranks/rank_schemes.h"

using namespace headroom;
using tests::Settings;

namespace {

constexpr int kSteps = 5, kMoreSteps = 20;

std::string results_of(const tests::RankChildren& children, const std::string& what, std::size_t run, int rank) {
  return tests::text_of(children.file(what + std::to_string(run) + "." + std::to_string(rank)));
}

std::unique_ptr<experiments::TrainStepRun> make_rank(const Settings& settings, const protocol::RankPlace& place) {
  static const std::filesystem::path kText = HEADROOM_SOURCE_DIR "/tests/llama/reference/make_reference.py";
  auto run = experiments::TrainStepRun::create(tests::params(settings),
                                               {.place = tests::kCpu, .course_text = kText, .rank = place});
  if (!run) FAIL(run.error().message);
  return std::move(run).value();
}

std::string lines_of(const std::vector<tests::Allocation>& log) {
  std::string all;
  for (const tests::Allocation& each : log) all += to_string(each) + "\n";
  return all;
}

// The first line that differs; empty: none.
std::string difference(const std::string& real, const std::string& planned) {
  std::istringstream a(real), b(planned);
  std::string in_a, in_b;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, in_a)), more_b = static_cast<bool>(std::getline(b, in_b));
    if (!more_a && !more_b) return {};
    if (in_a != in_b || more_a != more_b)
      return "line " + std::to_string(line) + ": '" + (more_a ? in_a : "") + "' instead of '" + (more_b ? in_b : "") +
             "'";
  }
}

// The settings of one rank that takes all samples.
Settings alone(Settings settings, int ranks) {
  return tests::joined(std::move(settings),
                       {"ranks=1", "zero=off", "zero_group=0", "prefetch=1", "batch=" + std::to_string(2 * ranks)});
}

}  // namespace

TEST_CASE("child: every scheme", "[.]") {
  at::set_num_threads(1);             // OpenMP's threads allocate in any order
  tests::log_of(tests::kCpu, [] {});  // from here on frees are logged
  const protocol::RankPlace place = tests::place_of_child();
  const std::string end = "." + std::to_string(place.rank);
  const std::vector<Settings> all = tests::rank_settings(place.ranks);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(tests::text_of(all[i]));
    const auto run = make_rank(all[i], place);
    std::ofstream losses(place.store + "/losses" + std::to_string(i) + end);
    losses.precision(17);
    std::vector<tests::Allocation> third;
    for (int step = 0; step < kSteps; ++step) {
      if (step == 2)
        third = tests::log_of(tests::kCpu, [&] { run->step(step); });
      else
        run->step(step);
      losses << run->loss() << " ";
    }
    std::ofstream(place.store + "/log" + std::to_string(i) + end) << lines_of(third);
  }
}

namespace {

void check_ranks(int ranks, std::size_t least) {
  at::set_num_threads(1);
  tests::log_of(tests::kPlanForCpu, [] {});
  tests::RankChildren children("child: every scheme", ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const bool well = children.ended_well(rank);
    INFO(children.output(rank));
    REQUIRE(well);
  }
  const std::vector<Settings> all = tests::rank_settings(ranks);
  REQUIRE(all.size() > least);
  std::map<std::map<std::string, std::string>, std::vector<double>> expected_of;  // schemes share it
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(tests::text_of(all[i]));
    const Settings one_rank = alone(all[i], ranks);
    const auto [found, is_new] = expected_of.try_emplace(tests::params(one_rank).to_map());
    if (is_new) found->second = tests::losses(one_rank, kSteps);
    const std::vector<double>& expected = found->second;
    const std::string planned = lines_of(tests::third_step(all[i], tests::kPlanForCpu));
    for (int rank = 0; rank < ranks; ++rank) {
      CAPTURE(rank);
      std::istringstream losses(results_of(children, "losses", i, rank));
      for (const double each : expected) {
        double loss = 0;
        losses >> loss;
        CHECK(std::abs(loss / each - 1) <= tests::tolerance(all[i]));
      }
      CHECK(difference(results_of(children, "log", i, rank), planned) == "");
    }
  }
}

}  // namespace

TEST_CASE("two ranks of every scheme train like one and allocate as planned") { check_ranks(2, 100); }

TEST_CASE("groups of ranks that share one copy of the states train like one") { check_ranks(4, 10); }

TEST_CASE("child: twenty steps", "[.]") {
  at::set_num_threads(1);
  const protocol::RankPlace place = tests::place_of_child();
  const std::vector<Settings> all = tests::pairs_of(place.ranks, tests::kSchemes, {{}});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto run = make_rank(all[i], place);
    std::ofstream losses(place.store + "/losses" + std::to_string(i) + "." + std::to_string(place.rank));
    losses.precision(17);
    for (const double each : tests::losses(*run, kMoreSteps)) losses << each << " ";
  }
}

TEST_CASE("after twenty steps two ranks in fp32 are within 1e-5 of one rank") {
  at::set_num_threads(1);
  constexpr int kRanks = 2;
  tests::RankChildren children("child: twenty steps", kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    const bool well = children.ended_well(rank);
    INFO(children.output(rank));
    REQUIRE(well);
  }
  const std::vector<Settings> all = tests::pairs_of(kRanks, tests::kSchemes, {{}});
  REQUIRE(all.size() == tests::kSchemes.size());
  const std::vector<double> expected = tests::losses(alone(all.front(), kRanks), kMoreSteps);
  CHECK(expected.back() < 0.9 * expected.front());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(tests::text_of(all[i]));
    std::istringstream losses(results_of(children, "losses", i, 0));
    for (const double each : expected) {
      double loss = 0;
      losses >> loss;
      CHECK(std::abs(loss / each - 1) <= 1e-5);
    }
  }
}
