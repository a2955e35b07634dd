// The bench by mouse and keys: settings, map, sets of switches, dropped files, and settings that travel.
#include <filesystem>
#include <fstream>
#include <string>

#include "app/page/page_facts.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

namespace fs = std::filesystem;

Stage bench_at(int width, int height) {
  Stage stage = shipped("bench");
  stage.width = width, stage.height = height;
  return stage;
}

bool fits(const Actor& actor) {
  const app::StepPlan* const plan = plan_of(actor.page());
  return plan != nullptr && plan->params == actor.page().settings() &&
         plan->cards.front().fit.verdict == predict::Verdict::kFits;
}

std::string setting(const Actor& actor, const char* key) { return actor.page().settings().as_text(key); }

}  // namespace

TEST_CASE("a cell of the bench's map sets batch and sequence, as one step to undo", "[gui]") {
  perform("map of the bench", bench_at(1280, 720), [](Actor& actor) {
    actor.frames(4);
    IM_CHECK_STR_EQ(setting(actor, "batch").c_str(), "4");
    actor.click("map/$$1/box");  // each cell is two areas: its words, then its click
    actor.frames(3);
    IM_CHECK_STR_EQ(setting(actor, "batch").c_str(), "1");
    IM_CHECK_STR_EQ(setting(actor, "seq").c_str(), "256");
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    actor.frames(2);
    IM_CHECK_STR_EQ(setting(actor, "batch").c_str(), "4");
    IM_CHECK_STR_EQ(setting(actor, "seq").c_str(), "1024");
  });
}

TEST_CASE("the bench's filter shows the settings that have the typed words", "[gui]") {
  perform("filter of the bench", bench_at(1600, 900), [](Actor& actor) {
    actor.frames(3);
    IM_CHECK(actor.there("batch/slider"));
    actor.click("##filter settings");
    actor.ctx->KeyChars("rank of");
    actor.frames(3);
    IM_CHECK(!actor.there("batch/slider"));
    actor.picture("bench filtered");
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
    actor.ctx->KeyPress(ImGuiKey_Backspace);
    actor.frames(3);
    IM_CHECK(actor.there("batch/slider"));
  });
}

TEST_CASE("Make it fit lists sets on the bench and below a figure, and a click turns all switches on", "[gui]") {
  for (const char* const page : {"bench", "where_memory_goes"}) {
    Stage stage = shipped(page);
    stage.width = 1600, stage.height = 900;
    perform("make it fit", stage, [&](Actor& actor) {
      actor.frames(2);
      actor.skip_question();
      for (const auto& [key, value] : {std::pair{"model", "llama-3.2-1b"}, {"seq", "1024"}, {"batch", "48"}})
        IM_CHECK(actor.page().set_param(key, value).ok());
      actor.page().choose_card(predict::find_cards("4090").front());
      actor.wait_until([&] { return plan_of(actor.page()) != nullptr; });
      actor.frames(4);
      IM_CHECK(!fits(actor));
      const record::Params before = actor.page().settings();
      actor.click("make it fit");
      actor.wait_until([&] { return actor.page().verdict().make_fit().advice() != nullptr; });
      IM_CHECK(!actor.page().verdict().make_fit().advice()->sets.empty());
      actor.frames(2);
      actor.picture(std::string("make it fit on ") + page);
      actor.click("$$0/set");
      actor.frames(4);
      IM_CHECK(fits(actor));
      IM_CHECK(actor.page().undo());
      IM_CHECK(actor.page().settings() == before);
    });
  }
}

TEST_CASE("the set of the bench shows on a page until the reader returns to the page's own", "[gui]") {
  perform("with my settings", bench_at(1280, 720), [](Actor& actor) {
    actor.frames(2);
    IM_CHECK(actor.page().set_param("batch", "7").ok());
    actor.page().choose_card(predict::find_cards("A100 80GB SXM").front());
    actor.frames(2);
    actor.jump("where_memory_goes");
    IM_CHECK(!actor.there("set"));  // the question is open
    actor.skip_question();
    IM_CHECK_STR_EQ(chosen_card(actor.page())->name.c_str(), "A100 80 GB SXM");
    const std::string own = setting(actor, "batch");
    actor.click("set");
    actor.frames(3);
    IM_CHECK_STR_EQ(setting(actor, "batch").c_str(), "7");
    actor.picture("with my settings");
    IM_CHECK(actor.page().set_param("batch", "6").ok());
    actor.frames(2);
    actor.click("to bench");
    actor.frames(2);
    IM_CHECK(!actor.page().page().lesson.in_course);
    IM_CHECK_STR_EQ(setting(actor, "batch").c_str(), "6");
    actor.jump("where_memory_goes");
    actor.click("set");
    actor.frames(2);
    IM_CHECK_STR_EQ(setting(actor, "batch").c_str(), own.c_str());
  });
}

TEST_CASE("a dropped recording opens on the bench, and other files say what can be dropped", "[gui]") {
  TestAssets made;
  made.add(*small_run(), "own");
  const fs::path folder = made.path() / "recordings", junk = made.path() / "junk.bin", empty = made.path() / "no_model";
  std::ofstream(junk) << "not a recording";
  fs::create_directory(empty);
  perform("dropped", bench_at(1280, 720), [&](Actor& actor) {
    actor.frames(2);
    const record::Params before = actor.page().settings();
    for (const fs::path& path : {junk, empty, made.path() / "there_is_none.hrec"}) {
      actor.app.open_file(path);
      actor.frames(2);
      IM_CHECK(!actor.app.ui().notice.empty());
      IM_CHECK(actor.page().settings() == before);
      actor.click("close notice");
      actor.frames(2);
    }
    actor.jump("vocabulary");
    actor.app.open_file(folder / "own.hrec");
    actor.frames(3);
    IM_CHECK(!actor.page().page().lesson.in_course);
    IM_CHECK(shows_evidence(actor.page()));
    IM_CHECK_STR_EQ(setting(actor, "model").c_str(), "tiny");
    actor.picture("dropped recording");
  });
}
