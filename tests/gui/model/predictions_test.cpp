// The service of predictions: order, cached and dropped answers; and the search.
#include "app/common/plan/predictions.h"

#include <cmath>
#include <random>

#include "app/common/plan/step_plan.h"
#include "demos/experiments/demo.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/wait.h"

using namespace headroom;
using app::largest_that_fits;
using app::Needed;
using app::PlannedRun;
using app::Predictions;
using namespace headroom::tests;

namespace {

constexpr int kFirst = 1, kSecond = 2;  // two askers

PlannedRun with_batch(std::int64_t batch) {
  PlannedRun run{"train_step", record::Params(experiments::training_step().schema)};
  REQUIRE(run.params.set("batch", record::ParamValue(batch)));
  return run;
}

bool answered(Predictions& service) {
  REQUIRE(tests::wait_until([&] { return !service.busy(); }));
  return !service.busy();
}

// A planner that answers only once released.
struct HeldPlanner {
  HeldPlanner() : predictions(small_run({.source = record::Source::kPredicted})) { predictions.planner.hold(true); }
  void wait_for_starts(int starts) {
    REQUIRE(tests::wait_until([&] { return predictions.planner.starts() >= starts; }));
    REQUIRE(predictions.planner.starts() == starts);
  }
  ScriptedPredictions predictions;
};

}  // namespace

TEST_CASE("an answer is cached, and the same question gets it at once") {
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  Predictions& service = predictions.service;
  CHECK_FALSE(service.poll());
  CHECK(service.ask(&kFirst, with_batch(2)) == nullptr);
  REQUIRE(answered(service));
  CHECK(service.poll());
  CHECK_FALSE(service.poll());
  const auto answer = service.ask(&kFirst, with_batch(2));
  REQUIRE(answer != nullptr);
  REQUIRE(*answer);
  CHECK(service.ask(&kSecond, with_batch(2)) == answer);
  CHECK(predictions.planner.starts() == 1);
  CHECK(service.wait(with_batch(3))->recording != nullptr);
  CHECK(predictions.planner.starts() == 2);
}

TEST_CASE("the newest question comes first, and an asker's older one is dropped") {
  HeldPlanner held;
  Predictions& service = held.predictions.service;
  CHECK(service.ask(&kFirst, with_batch(1)) == nullptr);
  held.wait_for_starts(1);
  CHECK(service.ask(&kSecond, with_batch(2)) == nullptr);
  CHECK(service.ask(&kSecond, with_batch(3)) == nullptr);
  held.predictions.planner.hold(false);
  REQUIRE(answered(service));
  CHECK(held.predictions.planner.starts() == 2);
  CHECK(held.predictions.planner.last_params().integer("batch") == 3);
  CHECK(service.ask(&kFirst, with_batch(1)) != nullptr);
  CHECK(service.ask(&kSecond, with_batch(3)) != nullptr);
}

TEST_CASE("a running question is dropped for the same asker's next one") {
  HeldPlanner held;
  Predictions& service = held.predictions.service;
  CHECK(service.ask(&kFirst, with_batch(1)) == nullptr);
  held.wait_for_starts(1);
  CHECK(service.ask(&kFirst, with_batch(2)) == nullptr);
  held.wait_for_starts(2);  // while the first is held
  held.predictions.planner.hold(false);
  REQUIRE(answered(service));
  CHECK(service.ask(&kSecond, with_batch(2)) != nullptr);
  CHECK(service.ask(&kSecond, with_batch(1)) == nullptr);
}

TEST_CASE("a refusal is returned once, and the next question finds a new planner") {
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  predictions.planner.set_trouble("The engine cannot start.");
  const auto refused = predictions.service.wait(with_batch(1));
  REQUIRE(refused != nullptr);
  CHECK_FALSE(*refused);
  CHECK(refused->refusal == "The engine cannot start.");
  predictions.planner.set_trouble(std::nullopt);
  const auto answer = predictions.service.wait(with_batch(1));
  REQUIRE(answer != nullptr);
  CHECK(*answer);
}

TEST_CASE("a question whose planner dies is repeated once with a new planner") {
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  predictions.planner.lose_next("The engine was killed by SIGKILL.");
  const auto answer = predictions.service.wait(with_batch(1));
  REQUIRE(answer != nullptr);
  CHECK(*answer);
  CHECK(predictions.planner.starts() == 2);
  CHECK(predictions.service.trouble().empty());
}

TEST_CASE("the caller can end waiting and the service at any time") {
  HeldPlanner held;
  int asked = 0;
  CHECK(held.predictions.service.wait(with_batch(1), [&] { return ++asked > 2; }) == nullptr);
  CHECK(held.predictions.service.ask(&kFirst, with_batch(2)) == nullptr);
}

TEST_CASE("the largest value that fits is found with few queries") {
  int questions = 0;
  const auto on = [&](auto bytes_of, record::Bytes limit) {
    questions = 0;
    return largest_that_fits(1, 1000, limit, [&](std::int64_t value) -> std::optional<Needed> {
      ++questions;
      const record::Bytes bytes = bytes_of(value);
      return Needed{.bytes = bytes, .fits = bytes <= limit};
    });
  };
  const auto line = [](std::int64_t value) { return 7'000 + 311 * value; };
  CHECK(on(line, 50'000) == 138);
  CHECK(questions <= 5);
  CHECK(on(line, 7'310) == 0);  // not even batch 1 fits
  CHECK(questions == 1);
  CHECK(on(line, 7'311) == 1);
  CHECK(on(line, 10'000'000) == 1000);
  CHECK(questions <= 4);
  CHECK(on([](std::int64_t value) { return 100 + value * value; }, 250'100) == 500);
  CHECK(questions <= 12);
  CHECK(largest_that_fits(1, 8, 100, [](std::int64_t) { return std::optional<Needed>(); }) == std::nullopt);
}

TEST_CASE("the search agrees with a linear search, however the bytes grow") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<record::Bytes> bytes{0};
    for (int i = 0; i < 300; ++i)
      bytes.push_back(bytes.back() + static_cast<record::Bytes>(random() % (round % 3 == 0 ? 2 : 5'000)));
    const record::Bytes limit = static_cast<record::Bytes>(random() % static_cast<std::uint64_t>(bytes.back() + 50));
    const auto counted = std::upper_bound(bytes.begin() + 1, bytes.end(), limit) - bytes.begin() - 1;
    int questions = 0;
    const auto found = largest_that_fits(1, 300, limit, [&](std::int64_t value) -> std::optional<Needed> {
      ++questions;
      return Needed{.bytes = bytes[static_cast<std::size_t>(value)],
                    .fits = bytes[static_cast<std::size_t>(value)] <= limit};
    });
    CHECK(found == counted);
    CHECK(questions <= 40);
  }
}
