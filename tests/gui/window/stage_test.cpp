// On stage: a presenter's keys, jumps, and readable text.
#include <algorithm>
#include <string>
#include <vector>

#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

// Smallest em of any view, in px at the stage's scale.
float smallest_font(const Actor& actor) { return 11 * actor.app.ui().scale(); }

}  // namespace

TEST_CASE("a presenter goes through a page with keys alone", "[gui]") {
  Scene scene;
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  scene.stage.predictions = &predictions.service;
  scene.stage.width = 1920;
  scene.stage.height = 1080;
  perform("stage", scene.stage, [&](Actor& actor) {
    const std::string first = actor.page().page().id;
    actor.ctx->KeyPress(ImGuiKey_F5);
    actor.frames(3);
    IM_CHECK(actor.app.ui().stage);
    IM_CHECK(smallest_font(actor) >= 27);
    actor.picture("stage question");
    actor.frames(1);
    IM_CHECK(actor.question().hides());
    actor.ctx->KeyPress(ImGuiKey_RightArrow);  // without a guess it shows the answer
    actor.frames(3);
    IM_CHECK(actor.question().state() == app::page::Question::State::kSkipped);
    IM_CHECK(actor.app.page().page().id == first);
    actor.picture("stage answer");
    actor.frames(1);
    const std::string batch = actor.page().settings().as_text("batch");
    actor.ctx->KeyPress(ImGuiKey_UpArrow);
    actor.frames(2);
    IM_CHECK(actor.page().settings().integer("batch") == std::stoi(batch) + 1);
    actor.ctx->KeyPress(ImGuiKey_DownArrow);
    actor.frames(2);
    IM_CHECK(actor.page().settings().as_text("batch") == batch);

    actor.ctx->KeyPress(ImGuiKey_B);
    actor.frames(2);
    IM_CHECK(actor.app.ui().blank == app::window::UiState::Blank::kBlack);
    actor.ctx->KeyPress(ImGuiKey_RightArrow);  // any key only restores the picture
    actor.frames(2);
    IM_CHECK(actor.app.ui().blank == app::window::UiState::Blank::kNone);
    IM_CHECK(!actor.app.view().state().reading_more);

    const std::size_t steps = actor.page().text().more.size();
    for (std::size_t step = 0; step < steps; ++step) {
      for (int screen = 0; screen < 20; ++screen) {  // long words take several screens
        actor.ctx->KeyPress(ImGuiKey_PageDown);
        actor.frames(3);
        if (actor.app.view().state().reading_more && actor.app.view().state().step == static_cast<int>(step)) break;
      }
      IM_CHECK_EQ(actor.app.view().state().step, static_cast<int>(step));
    }
    actor.picture("stage step");
    actor.frames(1);
    for (int screen = 0; screen < 20 && actor.page().page().id == first; ++screen) {
      actor.ctx->KeyPress(ImGuiKey_Space);
      actor.frames(3);
    }
    IM_CHECK(actor.page().page().id != first);
    IM_CHECK(actor.app.ui().stage);

    actor.ctx->KeyPress(ImGuiKey_G);
    actor.frames(3);
    actor.picture("stage contents");
    actor.frames(1);
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.jump(actor.app.course().pages().front()->id);
    IM_CHECK(actor.page().page().id == actor.app.course().pages().front()->id);
    actor.ctx->KeyPress(ImGuiKey_F);
    actor.frames(3);
    actor.picture("stage figure");
    actor.frames(1);
    IM_CHECK(actor.app.ui().figure_only);
    actor.ctx->KeyPress(ImGuiKey_F);
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(2);
    IM_CHECK(!actor.app.ui().stage);
  });
}

TEST_CASE("the keyboard reaches any page in two actions in a narrow window", "[gui]") {
  Scene scene;
  scene.stage.width = 960;
  scene.stage.height = 540;
  perform("jump", scene.stage, [](Actor& actor) {
    const auto pages = actor.app.course().pages();
    for (std::size_t i = 0; i < pages.size(); i += 3) {
      actor.jump(pages[i]->id);
      IM_CHECK_STR_EQ(actor.page().page().id.c_str(), pages[i]->id.c_str());
    }
  });
}

TEST_CASE("chapters are presented from the first screen to the last by keys alone", "[gui]") {
  for (const char* number : {"6", "8", "11"}) {
    Stage stage = shipped("where_memory_goes");
    stage.width = 1920;
    stage.height = 1080;
    perform(number, stage, [&](Actor& actor) {
      const lessons::Chapter& chapter = *actor.app.course().find_chapter(number);
      actor.jump(chapter.pages.front()->id);
      actor.ctx->KeyPress(ImGuiKey_F5);
      actor.frames(3);
      std::vector<std::string> seen;  // "flce question", "flce 0"
      constexpr int kMostScreens = 150;
      const auto place = [&] {
        const app::window::PageState& state = actor.app.view().state();
        const std::string at = actor.question().hides() ? "question"
                               : state.reading_more     ? std::to_string(state.step)
                                                        : "answer";
        return actor.page().page().id + " " + at;
      };
      const auto in_chapter = [&] {
        return std::ranges::find(chapter.pages, &actor.page().page()) != chapter.pages.end();
      };
      for (int screen = 0; screen < kMostScreens && in_chapter(); ++screen) {
        actor.picture("chapter " + std::string(number) + " " + std::to_string(100 + screen));
        if (seen.empty() || seen.back() != place()) seen.push_back(place());
        actor.ctx->KeyPress(ImGuiKey_Space);
        actor.frames(3);
      }
      std::vector<std::string> wanted;
      for (const lessons::Page* page : chapter.pages) {
        wanted.push_back(page->id + " question");
        wanted.push_back(page->id + " answer");
        for (std::size_t step = 0; step < page->more.size(); ++step)
          wanted.push_back(page->id + " " + std::to_string(step));
      }
      IM_CHECK(seen == wanted);
      IM_CHECK(actor.app.ui().stage);
      IM_CHECK(!in_chapter());
    });
  }
}

TEST_CASE("N shows a presenter's notes on stage and hides them again", "[gui]") {
  Scene scene;
  scene.stage.page = "static_bytes";
  scene.stage.width = 1920;
  scene.stage.height = 1080;
  perform("notes", scene.stage, [](Actor& actor) {
    const auto shown = [&] {
      const std::vector<std::string> texts = actor.texts();
      return std::ranges::any_of(texts,
                                 [](const std::string& each) { return each.find("Ask for") != std::string::npos; });
    };
    actor.ctx->KeyPress(ImGuiKey_N);
    actor.frames(2);
    IM_CHECK(!actor.app.ui().notes);
    actor.ctx->KeyPress(ImGuiKey_F5);
    actor.frames(3);
    IM_CHECK(!shown());
    actor.ctx->KeyPress(ImGuiKey_N);
    actor.frames(3);
    IM_CHECK(shown());
    actor.picture("shown");
    actor.ctx->KeyPress(ImGuiKey_N);
    actor.frames(3);
    IM_CHECK(!shown());
  });
}
