// The advisor by the closed form, without an engine.
#include "app/common/plan/advisor.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/common/summary.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/record/ledger.h"
#include "lessons/base_run.h"
#include "tests/cli/support/program.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"

using namespace headroom;
using namespace headroom::app;

namespace {

record::Params of_1b(std::int64_t batch, const std::vector<std::string>& settings = {}) {
  record::Params params(experiments::training_step().schema);
  for (const char* setting : {"device=cuda", "model=llama-3.2-1b", "seq=4096"})
    REQUIRE(params.set_assignment(setting).ok());
  REQUIRE(params.set("batch", record::ParamValue(batch)).ok());
  for (const std::string& setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return params;
}

Advice advised(const record::Params& params, record::Bytes memory, const GivenUp& may = {}) {
  StepPlanner planner(nullptr, "There is no engine.");
  const auto advice = Advisor(params, {.name = "a card", .memory = memory, .process = {}}, may).advise(planner);
  REQUIRE(advice);
  return *advice;
}

std::set<const experiments::Technique*> switches_of(const AdvisedSet& set) {
  std::set<const experiments::Technique*> all;
  for (const experiments::AdvisedSwitch& each : set.switches) all.insert(each.what);
  return all;
}

}  // namespace

TEST_CASE("a switch's time equals the ratio of two shipped recordings, with and without it") {
  using tests::stored;
  const auto speed = [](const record::Recording& run) {
    return summarise(record::Ledger(run)).tokens_per_second.value().value;
  };
  const std::array bases{stored("technique_plain_h200"), stored("technique_loss_flce_h200"),
                         stored("technique_loss_flce_mixed_h200"), stored("technique_checkpointing_layer_h200")};
  for (const experiments::Technique& each : experiments::memory_techniques()) {
    INFO(each.id);
    if (each.recording.empty()) {
      CHECK(each.cost.times == 0);
      continue;
    }
    const record::Recording run = stored(each.recording + "_h200");
    const auto differs = [&](const record::Recording& base) {
      return lessons::switches_between(base.info(), run.info()).size();
    };
    const record::Recording* beside = nullptr;
    for (const record::Recording& base : bases)
      if (differs(base) > 0 && (beside == nullptr || differs(base) < differs(*beside))) beside = &base;
    REQUIRE(beside != nullptr);
    CHECK(each.cost.times == Approx(speed(*beside) / speed(run)).margin(0.005));
    constexpr double kTokens = 4 * 1024;
    if (each.cost.seconds > 0)
      CHECK(each.cost.seconds == Approx(kTokens / speed(run) - kTokens / speed(*beside)).margin(0.005));
  }
}

TEST_CASE("a step that fits needs no switch") {
  const Advice advice = advised(of_1b(1), 140 * record::kGiB);
  CHECK(advice.fits());
  CHECK(advice.sets.empty());
  CHECK_FALSE(advice.why_formula.empty());
}

TEST_CASE("the step fits with the advised switches, and does not fit with one fewer") {
  const record::Params params = of_1b(8);
  const record::Bytes memory = 40 * record::kGiB;
  const Advice advice = advised(params, memory);
  REQUIRE(advice.fits());
  const AdvisedSet& first = advice.sets.front();
  REQUIRE(first.switches.size() >= 2);
  CHECK_FALSE(experiments::refused_combination(first.params));
  record::Bytes before = advice.fit.reserved;
  for (const experiments::AdvisedSwitch& each : first.switches) {
    CHECK(each.fit.reserved <= before);
    before = each.fit.reserved;
  }
  CHECK(before < memory);
  // No single switch is enough.
  for (const experiments::Technique& alone : experiments::memory_techniques()) {
    CAPTURE(alone.id);
    const auto one = experiments::turned_on(alone, params);
    if (!one || experiments::refused_combination(*one)) continue;
    CHECK_FALSE((advised(*one, memory).sets.empty() && advised(*one, memory).fits()));
  }
}

TEST_CASE("a property named by --keep is not given up") {
  for (const GivenUp may :
       {GivenUp{.speed = false}, GivenUp{.exactness = false}, GivenUp{.speed = false, .exactness = false}}) {
    const Advice advice = advised(of_1b(8), 40 * record::kGiB, may);
    REQUIRE_FALSE(advice.sets.empty());
    for (const AdvisedSet& set : advice.sets)
      for (const experiments::AdvisedSwitch& each : set.switches) {
        CAPTURE(each.what->id);
        CHECK((may.speed || !each.what->cost.speed));
        CHECK((may.exactness || !each.what->cost.exactness));
      }
  }
  // Only fused kernels, the fused loss and the optimizer step in the backward pass cost neither speed nor exactness.
  const Advice free_ones = advised(of_1b(8), 40 * record::kGiB, {.speed = false, .exactness = false});
  CHECK_FALSE(free_ones.fits());
  CHECK(switches_of(free_ones.sets.front()).contains(experiments::find_technique("flce")));
}

TEST_CASE("free switches come first, and micro-batches keep the number of sequences") {
  const Advice advice = advised(of_1b(32), 60 * record::kGiB);
  REQUIRE_FALSE(advice.sets.empty());
  for (const AdvisedSet& set : advice.sets) {
    int last = 0;
    for (const experiments::AdvisedSwitch& each : set.switches) {
      const int cost = 2 * each.what->cost.exactness + each.what->cost.speed;
      CHECK(cost >= last);
      last = cost;
    }
    CHECK(set.params.integer("batch") * set.params.integer("accumulate") == 32);
  }
}

TEST_CASE("the smallest set is reported if no set fits") {
  const Advice advice = advised(of_1b(64), record::kGiB / 4);
  CHECK_FALSE(advice.fits());
  REQUIRE(advice.sets.size() == 1);
  REQUIRE_FALSE(advice.sets.front().switches.empty());
  CHECK(advice.sets.front().switches.back().fit.reserved < advice.fit.reserved / 4);
}

TEST_CASE("several sets fit, and none contains another") {
  const Advice advice = advised(of_1b(8), 40 * record::kGiB);
  REQUIRE(advice.sets.size() > 1);
  for (const AdvisedSet& set : advice.sets) {
    CHECK(set.fits());
    for (const AdvisedSet& other : advice.sets) {
      const auto a = switches_of(set), b = switches_of(other);
      if (&set != &other) CHECK_FALSE(std::ranges::includes(a, b));
    }
  }
}

TEST_CASE("headroom advise prints switches, reasons and a command, and exits with 4 if no set fits") {
  const auto advise_words = [](std::vector<std::string> words) {
    words.insert(words.begin(), "advise");
    tests::RunOptions options;
    options.environment["HEADROOM_ENGINE"] = "/there/is/none";
    return tests::run_headroom(words, options);
  };
  const std::vector<std::string> k1B{"--model", "llama-3.2-1b", "--batch", "8", "--seq", "4096", "--card"};
  const auto on = [&](const char* card, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = k1B;
    words.emplace_back(card);
    words.insert(words.end(), more.begin(), more.end());
    return advise_words(words);
  };
  const tests::Ran text = on("RTX 4090");
  INFO(text.err);
  CHECK(text.exit_code == 0);
  CHECK(text.err.find("By the closed form") != std::string::npos);
  for (const char* part : {"The cheapest switches", "in the report's order", "ZeRO stage 2", "Not known",
                           "Try it: headroom run train_step --set"})
    CHECK(text.out.find(part) != std::string::npos);
  CHECK(text.out.find("needs several GPUs: out of memory, 5: ZeRO stage 3") != std::string::npos);
  const tests::Ran ranks = on("RTX 4090", {"--set", "ranks=4", "precision=bf16_mixed"});
  for (const char* part : {"ZeRO-1", "how much of a step the ranks wait for each other's bytes"})
    CHECK(ranks.out.find(part) != std::string::npos);
  CHECK(ranks.out.find("needs several GPUs") == std::string::npos);
  const tests::Ran document = on("RTX 4090", {"--json"});
  REQUIRE(document.exit_code == 0);
  const auto json = nlohmann::json::parse(document.out);
  CHECK(json["verdict"] == "fits");
  REQUIRE(json["sets"].size() > 1);
  for (const auto& set : json["sets"]) {
    REQUIRE(set["switches"].size() >= 1);
    CHECK(set["switches"].back()["bytes_after"] <= json["usable_bytes"]);
  }
  CHECK(on("H200", {"--set", "precision=bf16", "--set", "loss=flce"}).out.find("fits on H200") != std::string::npos);
  CHECK(on("1GiB").exit_code == 4);
  const tests::Ran wrong = on("RTX 4090", {"--keep", "time"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("--keep time: use speed, exactness or both") != std::string::npos);
  CHECK(on("GTX 9999").err.find("There is no card") != std::string::npos);
  CHECK(advise_words({"--model", "llama-3.2-1b"}).err.find("Name the card") != std::string::npos);
}
