// The catalogue of widgets against the pages that name them, and what a page keeps of its widgets.
#include <algorithm>
#include <set>
#include <string_view>

#include "app/window/widgets/ladder.h"
#include "imgui_te_engine.h"
#include "lessons/pages/widgets.h"
#include "tests/gui/page_scene.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

TEST_CASE("the window has each widget that a page can name, and no other", "[window][widgets]") {
  std::set<std::string_view> named, known;
  for (const lessons::WidgetInfo& widget : lessons::kWidgets) named.insert(widget.id);
  for (const app::window::Widget* widget : app::window::widgets()) known.insert(widget->id);
  CHECK(named == known);
  for (const lessons::WidgetInfo& each : lessons::kWidgets) CHECK(known.erase(each.id) == 1);
  CHECK(known.empty());
}

TEST_CASE("a page has the widgets that it names, and they keep their state", "[gui]") {
  Scene scene;
  scene.stage.page = "ladder";
  perform("widgets of a page", scene.stage, [](Actor& actor) {
    auto& ladder = actor.widget<app::window::LadderView>();
    const std::string first = ladder.order().front(), second = ladder.order()[1];
    ladder.move(0, 1);
    IM_CHECK(!actor.app.view().widgets().run_button());  // the ladder runs rungs itself
    actor.click("back");
    actor.frames(2);
    IM_CHECK(actor.app.view().widgets().find<app::window::LadderView>() == nullptr);
    IM_CHECK(actor.app.view().widgets().run_button());
    actor.click("skip");
    actor.frames(2);
    actor.click("continue");
    actor.frames(2);
    IM_CHECK_STR_EQ(actor.widget<app::window::LadderView>().order().front().c_str(), second.c_str());
    IM_CHECK_STR_EQ(actor.widget<app::window::LadderView>().order()[1].c_str(), first.c_str());
  });
}
