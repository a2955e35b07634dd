// Random sizing questions: few actions, a few seconds, `headroom plan`'s answers.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/page/page_facts.h"
#include "demos/predict/fits.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/harness.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

struct Asked {
  std::string model, card, seq, way;  // way: a switch's id; key, value: its setting
  std::string key, value;
};

template <class T>
const T& drawn(std::mt19937& random, const std::vector<T>& from) {
  return from[random() % from.size()];
}

// No question has the page's initial settings: Llama 3.2 1B, 1,024 tokens, no technique.
std::vector<Asked> questions() {
  std::mt19937 random(20261123);
  const std::vector<std::string> models{"llama-3.2-3b", "llama-3-8b"},
      cards{"GeForce RTX 4090", "A100 80 GB SXM", "B200 SXM"}, seqs{"512", "2048", "4096"};
  const std::vector<std::array<std::string, 3>> ways{{"flce", "loss", "flce"},
                                                     {"checkpointing", "checkpointing", "layer"}};
  std::vector<Asked> all;
  for (int i = 0; i < 5; ++i) {
    const auto& [way, key, value] = drawn(random, ways);
    all.push_back({drawn(random, models), drawn(random, cards), drawn(random, seqs), way, key, value});
  }
  return all;
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string all;
  std::array<char, 4096> part{};
  while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe.get()) != nullptr) all += part.data();
  return all;
}

std::int64_t planned(const Asked& asked) {
  const std::string json =
      output_of(fmt::format("{}/headroom plan --model {} --card '{}' --seq {} --set precision=bf16 --set {}={} --json",
                            HEADROOM_BIN_DIR, asked.model, asked.card, asked.seq, asked.key, asked.value));
  return nlohmann::json::parse(json)["steps"][0]["cards"][0]["largest_batch"];
}

// The strip's answer for the current settings.
const app::CardPlan* verdict(const Actor& actor) {
  const app::StepPlan* const plan = plan_of(actor.page());
  const bool current = plan != nullptr && plan->params == actor.page().settings() && !plan->cards.empty();
  return current && plan->cards.front().largest_batch ? &plan->cards.front() : nullptr;
}

}  // namespace

TEST_CASE("five random sizing questions take one action per setting and have headroom plan's answers", "[gui][live]") {
  for (const Asked& asked : questions()) {
    const std::string name = fmt::format("{} on {}, {} tokens, {}", asked.model, asked.card, asked.seq, asked.way);
    Stage stage = shipped("will_it_fit");
    stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
    std::int64_t answer = -1;
    int actions = 0;
    perform(name.c_str(), stage, [&](Actor& actor) {
      const auto act = [&](const auto& action) {
        action();
        actor.frames(2);
        ++actions;
      };
      actor.click("skip");
      // Until the engine is ready.
      actor.wait_until([&] { return awaits_prediction(actor.page()) || verdict(actor) != nullptr; });
      act([&] { IM_CHECK(actor.page().set_param("model", asked.model).ok()); });
      act([&] { IM_CHECK(actor.page().set_param("seq", asked.seq).ok()); });
      act([&] { actor.page().choose_card(predict::find_cards(asked.card).front()); });
      act([&] {
        const auto& ways = actor.page().verdict().ways();
        const auto way = std::ranges::find_if(ways, [&](const auto& each) { return each.what->id == asked.way; });
        if (way == ways.end())  // the first answer is still pending
          IM_CHECK(actor.page().set_param(asked.key, asked.value).ok());
        else
          turn(actor.page(), *way);
      });
      actor.wait_until([&] { return verdict(actor) != nullptr; });
      IM_CHECK(verdict(actor) != nullptr);
      answer = *verdict(actor)->largest_batch;
      IM_CHECK_STR_EQ(actor.page().settings().as_text(asked.key).c_str(), asked.value.c_str());
    });
    INFO(name);
    CHECK(answer == planned(asked));
    CHECK(actions <= 4 + 2);
  }
}
