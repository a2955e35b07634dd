// A page with both a single-step run and a sweep.
#include <algorithm>
#include <memory>

#include "app/common/sweep.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

constexpr int kSweepTab = 1;

std::size_t points_on_show(const Actor& actor) {
  const auto* run = actor.page().on_show();
  return run == nullptr ? 0 : run->recording->sweep_points().size();
}

void wait_for_points(Actor& actor, std::size_t points) {
  actor.wait_until([&] { return !(actor.app.running() && points_on_show(actor) < points); });
}

struct SweepScene : Scene {
  ScriptedPredictions predictions{small_run()};
  SweepScene() {
    stage.predictions = &predictions.service;
    stage.page = "schedule";
    stage.make_backend = [] { return std::make_unique<ScriptedBackend>(small_run(), 10); };
  }
};

}  // namespace

TEST_CASE("a page's sweep runs with the page's settings, adds points, and can be stopped", "[gui]") {
  SweepScene scene;
  perform("page sweep", scene.stage, [&](Actor& actor) {
    if (actor.question().hides()) actor.click("skip");
    actor.frames(2);
    actor.page().show_tab(2);
    actor.frames(3);
    IM_CHECK(actor.there("layers/Predicted"));
    actor.page().show_tab(kSweepTab);
    actor.frames(3);
    IM_CHECK(!actor.there("layers/Predicted"));
    IM_CHECK_EQ(tests::charts_of(actor.page().figure(400)).size(), 1u);
    actor.picture("page sweep, before");
    actor.page().show_tab(0);
    IM_CHECK(actor.page().set_param("batch", "2").ok());
    IM_CHECK(actor.there("run"));
    actor.click("run sweep");
    wait_for_points(actor, 1);
    IM_CHECK(actor.app.running());
    IM_CHECK_EQ(actor.page().figures().tab(), kSweepTab);
    IM_CHECK(!actor.there("run"));  // one at a time
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_R);
    IM_CHECK_EQ(scene.backend.starts(), 0);
    IM_CHECK_GT(tests::charts_of(actor.page().figure(400)).at(0)->x.high, 16);  // has room for later points
    actor.picture("page sweep, running");
    actor.page().show_tab(0);
    wait_for_points(actor, 2);
    IM_CHECK_EQ(actor.page().figures().tab(), 0);  // comes to the front only once
    actor.click("stop sweep");
    actor.wait_until([&] { return !actor.app.running(); });
    IM_CHECK(!actor.app.running());
    actor.frames(2);
    IM_CHECK(actor.there("run sweep"));
    const std::vector<record::SweepPoint>& points = actor.page().on_show()->recording->sweep_points();
    IM_CHECK_GE(points.size(), 2u);
    IM_CHECK_LT(points.size(), 5u);
    for (const record::SweepPoint& point : points)
      IM_CHECK(point.params.at("num_layers") == "64" && point.params.at("batch") == "2");
    IM_CHECK_STR_EQ(points[1].label.c_str(), "checkpoint_every=2");
    actor.page().show_tab(kSweepTab);
    actor.frames(3);
    IM_CHECK_EQ(tests::charts_of(actor.page().figure(400)).size(), 2u);
    actor.picture("page sweep, stopped");
  });
}

TEST_CASE("a sweep and a run of one step are both kept, each with its figure", "[gui]") {
  SweepScene scene;
  perform("page sweep and run", scene.stage, [&](Actor& actor) {
    if (actor.question().hides()) actor.click("skip");
    actor.frames(2);
    actor.click("run sweep");
    actor.wait_until([&] { return !actor.app.running(); });
    IM_CHECK_EQ(points_on_show(actor), 5u);
    actor.click("run");
    actor.wait_for_end_of_run();
    IM_CHECK_EQ(scene.backend.starts(), 1);
    IM_CHECK_EQ(points_on_show(actor), 0u);
    IM_CHECK(!tests::timeline_of(actor.page().figure(400)).stack.empty());
    actor.page().show_tab(kSweepTab);
    actor.frames(2);
    IM_CHECK_EQ(points_on_show(actor), 5u);
    actor.page().show_tab(2);
    actor.frames(2);
    IM_CHECK_EQ(points_on_show(actor), 0u);
    IM_CHECK(actor.page().set_param("checkpointing", "off").ok());
    actor.frames(2);
    actor.click("run sweep");  // its setting is unused: the button is disabled
    actor.frames(2);
    IM_CHECK(!actor.app.running());
    actor.picture("page sweep, refused");
  });
}

TEST_CASE("a narrow page has Run and the sweep in one line", "[gui]") {
  SweepScene scene;
  scene.stage.width = 900;
  scene.stage.height = 700;
  perform("page sweep narrow", scene.stage, [&](Actor& actor) {
    if (actor.question().hides()) actor.question().skip();
    actor.app.view().state().figure_face = true;
    actor.frames(3);
    IM_CHECK(actor.there("act"));
    IM_CHECK(actor.there("run sweep"));
    const auto rect = [&](const char* name) { return actor.ctx->ItemInfo(name).RectFull; };
    IM_CHECK(!rect("**/run sweep").Overlaps(rect("**/act")));
    IM_CHECK(!rect("**/run sweep").Overlaps(rect("**/settings")));
    actor.picture("page sweep narrow");
    actor.click("run sweep");
    wait_for_points(actor, 1);
    IM_CHECK(actor.there("stop sweep"));
    IM_CHECK(!actor.there("act"));
    actor.picture("page sweep narrow, running");
  });
}
