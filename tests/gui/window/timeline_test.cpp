// The figure, by clicks and keys: zoom, pan, measure, cursor, axes, terms, files.
#include <cmath>
#include <filesystem>

#include "imgui_internal.h"  // NavId: keyboard focus
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;
using app::page::TimelineView;

TEST_CASE("the wheel zooms at the cursor, a right drag pans, and keys do the same", "[gui]") {
  Scene scene;
  perform("zoom and pan", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    const TimelineView& view = actor.page().figures().view();
    const TimelineView::Range full = view.full();
    const double at = full.begin + full.length() * 0.25;
    const double y = actor.app.view().figure().scene().map.y.high / 2;
    actor.ctx->MouseMoveToPos(actor.on_screen(at, y));
    actor.ctx->MouseWheelY(2);
    actor.frames(2);
    IM_CHECK(view.zoomed());
    IM_CHECK(std::abs((at - view.visible().begin) / view.visible().length() - 0.25) < 0.01);

    const TimelineView::Range zoomed = view.visible();
    actor.ctx->MouseMoveToPos(actor.on_screen(zoomed.begin + zoomed.length() * 0.3, y));
    actor.ctx->MouseDown(1);
    actor.ctx->MouseMoveToPos(actor.on_screen(zoomed.begin + zoomed.length() * 0.2, y));
    actor.ctx->MouseUp(1);
    actor.frames(2);
    IM_CHECK(view.visible().begin > zoomed.begin);

    actor.ctx->MouseMoveToPos(actor.on_screen(view.visible().begin + view.visible().length() * 0.5, y));
    actor.ctx->MouseClick(0);  // focuses the timeline
    const double begin = view.visible().begin;
    actor.ctx->KeyPress(ImGuiKey_D);
    actor.frames(2);
    IM_CHECK(view.visible().begin > begin);
    actor.ctx->KeyPress(ImGuiKey_A);
    actor.frames(2);
    IM_CHECK(std::abs(view.visible().begin - begin) < full.length() * 1e-6);
    const double length = view.visible().length();
    actor.ctx->KeyPress(ImGuiKey_W);
    actor.frames(2);
    IM_CHECK(view.visible().length() < length);
    actor.ctx->KeyPress(ImGuiKey_S);
    actor.frames(2);
    IM_CHECK(std::abs(view.visible().length() - length) < full.length() * 1e-6);
    actor.ctx->KeyPress(ImGuiKey_Home);
    actor.frames(2);
    IM_CHECK(!view.zoomed());
  });
}

TEST_CASE("a timeline focused by Tab keeps the focus while its keys are used, and loses it with its figure", "[gui]") {
  Scene scene;
  perform("timeline by keys", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    const ImGuiID timeline = actor.ctx->ItemInfo("**/timeline").ID;
    for (int i = 0; i < 80 && ImGui::GetCurrentContext()->NavId != timeline; ++i) actor.ctx->KeyPress(ImGuiKey_Tab);
    actor.frames(2);
    IM_CHECK(actor.app.view().state().timeline_focus);
    for (const ImGuiKey key : {ImGuiKey_W, ImGuiKey_D, ImGuiKey_Period, ImGuiKey_Home}) {
      actor.ctx->KeyPress(key);
      actor.frames(2);
      IM_CHECK_EQ(ImGui::GetCurrentContext()->NavId, timeline);
      IM_CHECK(actor.app.view().state().timeline_focus);
    }
    IM_CHECK(!actor.page().figures().view().zoomed());
    actor.ctx->KeyPress(ImGuiKey_V);  // bars have no time
    actor.frames(2);
    IM_CHECK(!actor.app.view().state().timeline_focus);
  });
}

TEST_CASE("hidden data cannot be measured", "[gui]") {
  Scene scene;
  perform("measuring while the answer is hidden", scene.stage, [](Actor& actor) {
    const double hidden = *tests::timeline_of(actor.page().figure(400)).hidden_from;
    const TimelineView& view = actor.page().figures().view();
    const double y = actor.app.view().figure().scene().map.y.high / 2;
    const auto drag = [&](double from, double to) {
      actor.ctx->MouseMoveToPos(actor.on_screen(from, y * 0.2));
      actor.ctx->MouseDown(0);
      actor.ctx->MouseMoveToPos(actor.on_screen(to, y * 0.2));
      actor.ctx->MouseUp(0);
      actor.frames(2);
    };
    drag(hidden + (view.full().end - hidden) * 0.3, hidden + (view.full().end - hidden) * 0.8);
    IM_CHECK(!view.measure().has_value());
    drag(hidden * 0.5, hidden + (view.full().end - hidden) * 0.8);
    IM_CHECK(view.measure().has_value());
    IM_CHECK_LE(view.measure()->end, hidden);
  });
}

TEST_CASE("a left drag measures, F fits the range, and Esc clears it and then the zoom", "[gui]") {
  Scene scene;
  perform("measure", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    const TimelineView& view = actor.page().figures().view();
    const TimelineView::Range full = view.full();
    const double y = actor.app.view().figure().scene().map.y.high / 2;
    actor.ctx->MouseMoveToPos(actor.on_screen(full.begin + full.length() * 0.2, y));
    actor.ctx->MouseDown(0);
    actor.ctx->MouseMoveToPos(actor.on_screen(full.begin + full.length() * 0.6, y));
    actor.ctx->MouseUp(0);
    actor.frames(2);
    actor.picture("measuring");
    IM_CHECK(view.measure().has_value());
    IM_CHECK(std::abs(view.measure()->length() - full.length() * 0.4) < full.length() * 0.01);
    IM_CHECK(actor.page().measured().has_value());
    actor.ctx->KeyPress(ImGuiKey_Home);
    actor.frames(2);
    IM_CHECK(std::abs(view.visible().length() - view.measure()->length()) < full.length() * 1e-6);
    actor.ctx->KeyPress(ImGuiKey_Escape);
    IM_CHECK(!view.measure().has_value());
    IM_CHECK(view.zoomed());
    actor.ctx->KeyPress(ImGuiKey_Escape);
    IM_CHECK(!view.zoomed());
  });
}

TEST_CASE("the cursor and the list follow the mouse", "[gui]") {
  Scene scene;
  perform("hover", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    const TimelineView::Range full = actor.page().figures().view().full();
    const double y = actor.app.view().figure().scene().map.y.high / 2;
    actor.ctx->MouseMoveToPos(actor.on_screen(full.begin + full.length() * 0.05, y));
    actor.frames(2);
    const record::Bytes early = tests::timeline_of(actor.page().figure(400)).alive->total;
    actor.ctx->MouseMoveToPos(actor.on_screen(tests::timeline_of(actor.page().figure(400)).peak->x, y));
    actor.frames(2);
    IM_CHECK(tests::timeline_of(actor.page().figure(400)).alive->total > early);
    IM_CHECK(tests::timeline_of(actor.page().figure(400)).alive->at_cursor);
    actor.ctx->MouseClick(0);
    const double before = *actor.page().figures().view().cursor();
    actor.ctx->KeyPress(ImGuiKey_Period);
    IM_CHECK(*actor.page().figures().view().cursor() > before);
    actor.ctx->KeyPress(ImGuiKey_Comma);
    actor.ctx->KeyPress(ImGuiKey_Comma);
    IM_CHECK(*actor.page().figures().view().cursor() < before);
  });
}

TEST_CASE("the time axis is the device's, the host's, or by events", "[gui]") {
  Scene scene;
  perform("time axis", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    IM_CHECK(lessons::axes_of(actor.page().figure(400)).x.unit == lessons::AxisUnit::kNanoseconds);
    actor.click("axis");
    actor.frames(2);
    actor.ctx->ItemClick("//$FOCUSED/$$3/option");
    actor.frames(3);
    IM_CHECK(actor.page().figures().params().text("axis") == "event");
    IM_CHECK(lessons::axes_of(actor.page().figure(400)).x.unit == lessons::AxisUnit::kEvents);
  });
}

TEST_CASE("the page's other figures are one click or key away, each with its own view", "[gui]") {
  Scene scene;
  scene.stage.width = 1920, scene.stage.height = 1080;  // room for the figures' names side by side
  perform("peak by category", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.ctx->ItemClick("**/$$1/tab");
    actor.frames(3);
    IM_CHECK_EQ(actor.page().figures().tab(), 1);
    IM_CHECK(!tests::bars_of(actor.page().figure(400)).empty());
    actor.ctx->KeyPress(ImGuiKey_V);
    actor.frames(2);
    IM_CHECK_EQ(actor.page().figures().tab(), 2);
    IM_CHECK_EQ(tests::charts_of(actor.page().figure(400)).size(), 1u);
    actor.picture("losses");
    actor.ctx->KeyPress(ImGuiKey_C);
    actor.click("run");
    actor.wait_for_end_of_run();
    actor.frames(2);
    IM_CHECK_EQ(tests::charts_of(actor.page().figure(400)).size(), 2u);  // one shows run A
    actor.picture("losses beside run A");
    actor.ctx->KeyPress(ImGuiKey_V);
    actor.frames(2);
    IM_CHECK_EQ(actor.page().figures().tab(), 0);
    actor.page().figures().view().zoom(1e6, 0.5);
    IM_CHECK(actor.page().figures().view().zoomed());
    actor.page().show_tab(1);
    IM_CHECK(!actor.page().figures().view().zoomed());
    actor.page().show_tab(0);
    IM_CHECK(actor.page().figures().view().zoomed());
  });
}

TEST_CASE("the current figure is written to files", "[gui]") {
  Scene scene;
  perform("export", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.app.ui().exports.folder = (scene.assets.path() / "out").string();
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_E);
    actor.frames(3);
    actor.ctx->ItemClick("//$FOCUSED/CSV");
    actor.ctx->ItemClick("//$FOCUSED/write");
    actor.frames(2);
    actor.picture("popup export");
    std::error_code missing;
    IM_CHECK(std::filesystem::file_size(scene.assets.path() / "out" / "memory_timeline.svg", missing) > 1000);
    IM_CHECK(!missing);
    IM_CHECK(std::filesystem::file_size(scene.assets.path() / "out" / "memory_timeline.csv", missing) > 100);
    IM_CHECK(!missing);
    IM_CHECK(!std::filesystem::exists(scene.assets.path() / "out" / "memory_timeline.pdf"));
    IM_CHECK(actor.app.ui().exports.result.find("memory_timeline.svg, memory_timeline.csv") != std::string::npos);
  });
}

TEST_CASE("an unwritable folder is reported in one sentence", "[gui]") {
  Scene scene;
  perform("export refused", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.app.ui().exports.folder = "/proc/nowhere";
    actor.click("export");
    actor.frames(3);
    actor.ctx->ItemClick("//$FOCUSED/write");
    actor.frames(2);
    IM_CHECK(actor.app.ui().exports.result.find("/proc/nowhere") != std::string::npos);
  });
}

TEST_CASE("a term highlights its kind in the figure, and the list highlights its term", "[gui]") {
  Scene scene;
  perform("terms", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    // The page's first word is the term "Weights", at the column's left edge.
    ImVec2 at = ImGui::GetMainViewport()->Pos;
    for (float y = 100; y < 260 && !actor.app.view().state().lit; y += 6) {
      actor.ctx->MouseMoveToPos({at.x + 90, at.y + y});
      actor.frames(2);
    }
    IM_CHECK(actor.app.view().state().lit == record::Category::kWeights);
    actor.picture("lit by term");
    for (const app::paint::HitArea& area : actor.app.view().figure().scene().hits) {
      if (area.category != record::Category::kActivations ||
          area.rect.x0 < actor.app.view().figure().scene().map.plot.x1)
        continue;
      const ImVec2 origin =
          actor.on_screen(actor.app.view().figure().scene().map.x.low, actor.app.view().figure().scene().map.y.high);
      const app::paint::Rect& plot = actor.app.view().figure().scene().map.plot;
      actor.ctx->MouseMoveToPos({origin.x - plot.x0 + area.rect.center_x(), origin.y - plot.y0 + area.rect.center_y()});
      actor.frames(2);
      IM_CHECK(actor.app.view().state().lit == record::Category::kActivations);
      return;
    }
    IM_CHECK(false);  // no row of the list can be pointed at
  });
}
