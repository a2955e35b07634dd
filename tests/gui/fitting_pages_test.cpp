// The pages on memory limits: figures are drawn, and nothing is cut off.
#include <string>

#include "imgui_te_engine.h"
#include "tests/gui/harness.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

// Draws the first tabs in every size and theme.
void on_all_screens(const char* page, int tabs, const char* name) {
  for (const bool large : {false, true})
    for (const auto theme : {app::window::ThemeId::kLight, app::window::ThemeId::kDark}) {
      Stage stage = shipped(page);
      if (large) stage.width = 1920, stage.height = 1080;
      stage.theme = theme;
      const std::string screen = std::string(name) + (large ? " 1920" : " 1280") +
                                 (theme == app::window::ThemeId::kLight ? " light" : " dark");
      perform(screen.c_str(), stage, [&](Actor& actor) {
        actor.frames(3);
        actor.picture(screen + " question");
        actor.click("skip");
        for (int tab = 0; tab < tabs; ++tab) {
          actor.app.page().show_tab(tab);
          actor.frames(3);
          IM_CHECK_STR_EQ(actor.page().figure(400).head.empty_reason.c_str(), "");
          IM_CHECK(!actor.page().figure(400).panels.empty());
          IM_CHECK(!actor.app.view().figure().scene().items.empty());
          actor.picture(screen + " tab " + std::to_string(tab));
        }
      });
    }
}

}  // namespace

TEST_CASE("the page on addresses shows the run that ran out of memory", "[gui]") {
  on_all_screens("address_space", 2, "addresses");
}

TEST_CASE("the page on fitting shows the map for the run's settings", "[gui]") {
  on_all_screens("will_it_fit", 2, "will it fit");
}

TEST_CASE("the page on recipes calculates both recipes", "[gui]") { on_all_screens("recipe", 1, "recipe"); }
