// Widgets have the names that pages use, and a state per page.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "app/window/shell/page_library.h"
#include "app/window/widgets/ladder.h"
#include "imgui_internal.h"  // ImRect
#include "imgui_te_engine.h"
#include "lessons/pages/widgets.h"
#include "tests/gui/support/page_scene.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

TEST_CASE("the window has exactly the widgets that a page can name", "[window][widgets]") {
  std::set<const lessons::WidgetInfo*> named(lessons::kWidgets.begin(), lessons::kWidgets.end()), made;
  for (const app::window::Widget* widget : app::window::widgets()) CHECK(made.insert(widget->info).second);
  CHECK(named == made);
}

TEST_CASE("pages of one schema share their settings in any order", "[window][widgets]") {
  app::window::LibraryOptions options;
  options.assets = std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets";
  app::window::PageLibrary library(options, app::Session(app::EngineChoice{std::nullopt, "A test has no engine."}),
                                   app::KeptRuns({}));
  const auto model_of = [&](const char* id) -> app::page::PageModel& {
    return library.open(*library.course().find_page(id)).value()->model();
  };
  REQUIRE(model_of("vocabulary").set_param("model", "llama-3-8b"));
  CHECK(model_of("static_bytes").settings().text("model") == "llama-3-8b");
  REQUIRE(model_of("static_bytes").set_param("model", "llama-3.2-3b"));
  CHECK(model_of("vocabulary").settings().text("model") == "llama-3.2-3b");
  CHECK(model_of("checkpointing").settings().text("model") != "llama-3.2-3b");  // this page belongs to a demo

  CHECK(model_of("vocabulary").control().fixed_settings().empty());           // needs no engine
  CHECK(model_of("checkpointing").control().fixed_settings().empty());        // the closed form follows
  CHECK_FALSE(model_of("many_launches").control().fixed_settings().empty());  // nothing would follow
}

TEST_CASE("a calculator has the figure's sliders and the page's switches, but no Run", "[gui]") {
  TestAssets assets;
  ScriptedBackend runner(small_run());
  ScriptedPredictions predictions(small_run());
  perform("calculator",
          {.assets = assets.path(), .page = "vocabulary", .runner = &runner, .predictions = &predictions.service},
          [&](Actor& actor) {
            actor.click("skip");
            actor.frames(2);
            for (const char* none : {"run", "pin", "layers/Formula", "layers/Predicted", "layers/Measured", "act"})
              IM_CHECK(!actor.there(none));
            actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_R);
            actor.frames(2);
            IM_CHECK_EQ(runner.starts() + predictions.planner.starts(), 0);
            IM_CHECK(actor.there("figure copies/slider"));
            IM_CHECK(actor.there("seq/slider"));
            const int laid_out = actor.app.view().figure().layouts();
            const ImRect slider = actor.ctx->ItemInfo("**/seq/slider").RectFull;
            actor.ctx->MouseMoveToPos({slider.Max.x - 8, slider.GetCenter().y});
            actor.ctx->MouseClick();
            actor.frames(2);
            IM_CHECK_GT(actor.app.view().figure().layouts(), laid_out);
            actor.click("more settings");
            actor.frames(2);
            IM_CHECK(actor.there("group Optimizer"));
          });
}

TEST_CASE("a page has the widgets that it names, which keep their state", "[gui]") {
  Scene scene;
  scene.stage.page = "ladder";
  perform("widgets of a page", scene.stage, [](Actor& actor) {
    app::page::Ladder& ladder = actor.page().ladder();
    const std::string first = ladder.switches().front().id, second = ladder.switches()[1].id;
    ladder.move(0, 1);
    IM_CHECK(!actor.app.view().widgets().run_button());  // the ladder runs its own rungs
    actor.click("back");
    actor.frames(2);
    IM_CHECK(actor.app.view().widgets().find<app::window::LadderView>() == nullptr);
    IM_CHECK(actor.app.view().widgets().run_button());
    actor.click("skip");
    actor.frames(2);
    actor.click("continue");
    actor.frames(2);
    IM_CHECK_STR_EQ(actor.page().ladder().switches().front().id.c_str(), second.c_str());
    IM_CHECK_STR_EQ(actor.page().ladder().switches()[1].id.c_str(), first.c_str());
  });
}
