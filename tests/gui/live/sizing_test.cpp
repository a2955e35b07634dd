// Drawn questions to the bench: few actions, and the answers of `headroom plan` and `headroom advise`.
#include <algorithm>
#include <array>
#include <chrono>
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

// A question to the bench: what the reader types into the finder, one act per setting, and what is asked.
struct Asked {
  enum class Kind { kLargest, kMakeItFit, kDifference } kind = Kind::kLargest;
  std::string model, card, batch, seq, recording;

  std::vector<std::string> acts() const {
    std::vector<std::string> acts;
    if (!model.empty()) acts = {"model " + model, "card " + card, "sequence " + seq};
    if (!batch.empty()) acts.push_back("batch " + batch);
    return acts;
  }
  std::string name() const {
    return recording.empty() ? fmt::format("{} on {}, batch {}, {} tokens", model, card, batch, seq) : recording;
  }
};

template <class T>
const T& drawn(std::mt19937& random, const std::vector<T>& from) {
  return from[random() % from.size()];
}

const std::vector<std::string> kModels{"llama-3.2-3b", "llama-3-8b"}, kCards{"4090", "A100 80 GB SXM", "H200"},
    kSequences{"2048", "4096"}, kBatches{"32", "64"};

std::vector<Asked> questions() {
  std::mt19937 random(20261128);
  std::vector<Asked> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(
        {Asked::Kind::kLargest, drawn(random, kModels), drawn(random, kCards), "", drawn(random, kSequences), ""});
  for (int i = 0; i < 3; ++i)
    all.push_back({Asked::Kind::kMakeItFit, "llama-3.2-3b", i == 0 ? "4090" : "A100 80 GB SXM", drawn(random, kBatches),
                   drawn(random, kSequences), ""});
  for (const char* recording :
       {"llama-3.2-1b_h200_b4", "llama-3.2-1b_h200_b4_checkpointing", "technique_loss_flce_h200"})
    all.push_back({Asked::Kind::kDifference, "", "", "", "", recording});
  return all;
}

nlohmann::json headroom_json(const std::string& words) {
  const std::string command = fmt::format("{}/headroom {} --json 2>/dev/null", HEADROOM_BIN_DIR, words);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string all;
  std::array<char, 4096> part{};
  while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe.get()) != nullptr) all += part.data();
  return nlohmann::json::parse(all);
}

std::string options_of(const Asked& asked) {
  return fmt::format("--model {} --card \"{}\" --batch {} --seq {} --set precision=bf16", asked.model, asked.card,
                     asked.batch.empty() ? "4" : asked.batch, asked.seq);
}

// The predicted plan of the current settings, once complete.
const app::StepPlan* plan_now(const Actor& actor) {
  const app::StepPlan* const plan = plan_of(actor.page());
  const bool current = plan != nullptr && plan->params == actor.page().settings() && !plan->cards.empty();
  return current && plan->why_formula.empty() && plan->cards.front().largest_batch ? plan : nullptr;
}

void find(const Actor& actor, const std::string& words) {
  actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
  actor.frames(3);
  actor.ctx->KeyChars(words.c_str());
  actor.frames(3);
  actor.ctx->KeyPress(ImGuiKey_Enter);
  actor.frames(3);
}

std::vector<std::string> labels_of(const std::vector<app::AdvisedSet>& sets) {
  std::vector<std::string> labels;
  for (const app::AdvisedSet& set : sets) {
    std::string& all = labels.emplace_back();
    for (const auto& each : set.switches) all += each.what->id + " ";
  }
  return labels;
}

std::vector<std::string> labels_in(const nlohmann::json& advice) {
  std::vector<std::string> labels;
  for (const auto& set : advice["sets"]) {
    std::string& all = labels.emplace_back();
    for (const auto& each : set["switches"]) all += each["id"].get<std::string>() + " ";
  }
  return labels;
}

}  // namespace

TEST_CASE("ten drawn questions take one act per setting and two more on the bench, by keys alone", "[gui][live]") {
  for (const Asked& asked : questions()) {
    Stage stage = shipped("bench");
    stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
    int actions = 0;
    double seconds = 0;
    std::int64_t largest = -1;
    std::vector<std::string> sets;
    perform(asked.name().c_str(), stage, [&](Actor& actor) {
      const auto begin = std::chrono::steady_clock::now();
      for (const std::string& act : asked.acts()) find(actor, act), ++actions;
      if (!asked.recording.empty()) {
        actor.app.open_file(stage.assets / "recordings" / (asked.recording + ".hrec"));
        ++actions;
      }
      actor.wait_until([&] { return plan_now(actor) != nullptr; });
      largest = *plan_now(actor)->cards.front().largest_batch;
      if (asked.kind == Asked::Kind::kMakeItFit) {
        find(actor, "make it fit"), ++actions;
        actor.wait_until([&] { return actor.page().verdict().make_fit().advice() != nullptr; });
        sets = labels_of(actor.page().verdict().make_fit().advice()->sets);
      }
      if (asked.kind == Asked::Kind::kDifference) {
        IM_CHECK(shows_evidence(actor.page()));
        IM_CHECK(measured_peak(actor.page()) == plan_now(actor)->allocated);
      }
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (!asked.model.empty()) IM_CHECK_STR_EQ(actor.page().settings().as_text("model").c_str(), asked.model.c_str());
      actor.picture("question " + asked.name());
    });
    INFO(asked.name());
    std::printf("%s: %d actions, %.1f s\n", asked.name().c_str(), actions, seconds);
    CHECK(actions <= static_cast<int>(asked.acts().size()) + 2);
    if (asked.kind == Asked::Kind::kLargest)
      CHECK(largest == headroom_json("plan " + options_of(asked))["steps"][0]["cards"][0]["largest_batch"]);
    if (asked.kind == Asked::Kind::kMakeItFit) {
      CHECK_FALSE(sets.empty());
      CHECK(sets == labels_in(headroom_json("advise " + options_of(asked))));
    }
  }
}
