// Techniques as chips on the ladder's rows and in the strip.
#include <cmath>
#include <string>

#include "imgui_te_engine.h"
#include "lessons/card_limit.h"
#include "tests/gui/support/page_scene.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;
namespace page = app::page;

namespace {

// The stored ladder's speed, such as "69,894".
std::string speed_of_bf16() {
  const auto ladder = record::Recording::read(HEADROOM_SOURCE_DIR "/assets/recordings/ladder_h200.hrec");
  REQUIRE(ladder.ok());
  for (const record::SweepPoint& point : ladder.value().sweep_points())
    if (point.label == "bf16") return record::format_count(std::llround(point.tokens_per_second));
  return {};
}

}  // namespace

TEST_CASE("the ladder has chips and speeds in every size and theme, and marks predicted rungs", "[gui]") {
  struct Look {
    int width, height;
    float scale;
    app::window::ThemeId theme;
  };
  for (const Look& look :
       {Look{1280, 720, 1, app::window::ThemeId::kLight}, Look{1920, 1080, 1, app::window::ThemeId::kLight},
        Look{1280, 720, 1.5f, app::window::ThemeId::kDark}, Look{1920, 1080, 1.5f, app::window::ThemeId::kDark}}) {
    ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
    Stage stage = shipped("ladder");
    ScriptedBackend backend(small_run());
    stage.runner = &backend;
    stage.predictions = &predictions.service;
    stage.width = look.width;
    stage.height = look.height;
    stage.scale = look.scale;
    stage.theme = look.theme;
    const std::string name = "ladder " + std::to_string(look.width) + " at " + std::to_string(look.scale).substr(0, 3);
    perform(name.c_str(), stage, [&](Actor& actor) {
      actor.frames(20);
      actor.question().skip();
      actor.app.view().state().figure_face = true;
      actor.frames(3);
      IM_CHECK(actor.there("rung flce"));
      IM_CHECK(actor.there("turn flce"));
      const auto says = [&](const std::string& words) {
        for (const app::paint::Item& item : actor.app.view().figure().scene().items)
          if (const auto* text = std::get_if<app::paint::Text>(&item.shape); text != nullptr && text->text == words)
            return true;
        return false;
      };
      IM_CHECK(says("tokens/s"));
      IM_CHECK(says(speed_of_bf16()));
      actor.picture(name);
      const float height = actor.ctx->ItemInfo("**/rung flce").RectFull.GetHeight();
      actor.page().ladder().move(0, 1);
      actor.page().ladder().turn(4);
      actor.frames(1);
      IM_CHECK(!actor.page().on_show()->recording->outcome());
      actor.wait_until([&] { return actor.page().on_show()->recording->outcome().has_value(); });
      actor.frames(2);
      IM_CHECK_EQ(actor.ctx->ItemInfo("**/rung flce").RectFull.GetHeight(), height);
      IM_CHECK(tests::rungs_of(actor.page().figure(400))[1].predicted);
      IM_CHECK(!tests::rungs_of(actor.page().figure(400))[2].predicted);
      actor.picture(name + " another order");
    });
  }
}

TEST_CASE("Use up to here sets a rung's switches as one undo step", "[gui]") {
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  Stage stage = shipped("ladder");
  ScriptedBackend backend(small_run());
  stage.runner = &backend;
  stage.predictions = &predictions.service;
  perform("use up to here", stage, [&](Actor& actor) {
    actor.frames(20);
    actor.question().skip();
    actor.frames(3);
    const record::Params before = actor.page().settings();
    actor.click("use flce");
    actor.frames(2);
    IM_CHECK_STR_EQ(actor.page().settings().as_text("loss").c_str(), "flce");
    IM_CHECK(!(actor.page().settings() == before));
    actor.picture("use up to here");
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    actor.frames(2);
    IM_CHECK(actor.page().settings() == before);
    actor.page().choose_card(lessons::card_named("4090"));
    actor.frames(6);
    actor.picture("ladder on a card");
  });
}

TEST_CASE("a held chip shows the figure with it until released, and a short click toggles it", "[gui]") {
  Stage stage = shipped("checkpointing");
  ScriptedBackend backend(small_run());
  stage.runner = &backend;
  perform("held chip", stage, [&](Actor& actor) {
    actor.frames(20);
    actor.question().skip();
    (void)actor.page().set_param("batch", "2");
    actor.frames(6);
    actor.picture("strip of a page");
    const record::Params before = actor.page().settings();
    const ImVec2 chip = actor.ctx->ItemInfo("**/way selective").RectFull.GetCenter();
    actor.ctx->MouseMoveToPos(chip);
    actor.picture("strip, pointed at");
    actor.ctx->MouseDown(0);
    IM_CHECK(!actor.page().history().holding());
    actor.frames(30);
    IM_CHECK(actor.page().history().holding());
    IM_CHECK_STR_EQ(actor.page().settings().as_text("checkpointing").c_str(), "selective");
    actor.picture("strip, held");
    actor.ctx->MouseUp(0);
    actor.frames(3);
    IM_CHECK(!actor.page().history().holding());
    IM_CHECK(actor.page().settings() == before);
    actor.ctx->MouseClick(0);
    actor.frames(3);
    IM_CHECK_STR_EQ(actor.page().settings().as_text("checkpointing").c_str(), "selective");
    actor.ctx->KeyPress(ImGuiKey_X);
    actor.frames(2);
    IM_CHECK_STR_EQ(actor.page().settings().as_text("checkpointing").c_str(), "layer");
  });
}

TEST_CASE("a digit says which switch it turned, for two seconds", "[gui]") {
  Stage stage = shipped("checkpointing");
  ScriptedBackend backend(small_run());
  stage.runner = &backend;
  perform("digit turns a switch", stage, [&](Actor& actor) {
    actor.frames(20);
    actor.question().skip();
    (void)actor.page().set_param("batch", "2");
    actor.frames(6);
    const page::WayOut& first = *actor.page().verdict().shown_ways().front();
    const std::string name = first.what->button();
    const bool on = first.on;
    actor.ctx->MouseMoveToPos({600, 300});
    actor.ctx->KeyPress(ImGuiKey_1);
    IM_CHECK_STR_EQ(actor.app.ui().passing.words.c_str(),
                    ("1: " + name + (on ? " off" : " on") + " · Ctrl Z undoes").c_str());
    IM_CHECK_LE(actor.app.ui().passing.until, ImGui::GetTime() + 2);
    actor.picture("digit turns a switch");
    IM_CHECK(actor.page().undo());
    actor.frames(1);
  });
}

TEST_CASE("the page on mixed precision has chips for GEMM formats", "[gui]") {
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  Stage stage = shipped("mixed_precision");
  stage.predictions = &predictions.service;
  ScriptedBackend backend(small_run());
  stage.runner = &backend;
  stage.height = 1080;
  stage.width = 1920;
  perform("formats of products", stage, [&](Actor& actor) {
    actor.frames(20);
    actor.question().skip();
    IM_CHECK(actor.page().set_param("precision", "bf16_mixed"));
    actor.wait_until([&] { return actor.there("way fp8"); });
    IM_CHECK(actor.there("way tf32"));
    actor.click("way fp8");
    actor.frames(3);
    IM_CHECK_STR_EQ(actor.page().settings().as_text("gemm").c_str(), "fp8");
    actor.wait_until([&] { return actor.there("way fp8"); });
    actor.frames(6);
    actor.picture("products in fp8");
    actor.wait_until([&] { return actor.there("way tf32"); });
    actor.click("way tf32");
    actor.frames(3);
    IM_CHECK_STR_EQ(actor.page().settings().as_text("gemm").c_str(), "tf32");
    IM_CHECK_STR_EQ(actor.page().settings().as_text("precision").c_str(), "fp32");
    actor.wait_until([&] { return actor.there("way tf32"); });
    actor.frames(6);
    actor.picture("products in tf32");
  });
}
