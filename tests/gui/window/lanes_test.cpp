// Kernels below a traced step: selecting, marking, finding, and tracing a run.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "app/window/views/figure_card.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;
using app::page::TimelineView;

namespace {

const app::paint::Scene& scene_of(const Actor& actor) { return actor.app.view().figure().scene(); }

// Screen position of the center of the widest box with that name.
ImVec2 on_box(const Actor& actor, std::string_view tip) {
  const app::paint::Scene& scene = scene_of(actor);
  const app::paint::HitArea* widest = nullptr;
  for (const app::paint::HitArea& area : scene.hits)
    if (area.span && area.tip.find(tip) == 0 && (widest == nullptr || area.rect.width() > widest->rect.width()))
      widest = &area;
  if (widest == nullptr) return {-1, -1};
  const ImVec2 origin = actor.on_screen(scene.map.x.low, scene.map.y.low);
  return {origin.x - scene.map.plot.x0 + widest->rect.center_x(),
          origin.y - scene.map.plot.y1 + widest->rect.center_y()};
}

const lessons::Lanes& lanes(const Actor& actor) {
  return panel_in<lessons::Lanes>(actor.page().figure(actor.app.view().figure().columns()));
}

// Skips the question first. In the figure, run A is below run B.
void on_kernels(const char* name, const std::function<void(Actor&)>& script,
                Stage stage = shipped("kernels_of_a_step")) {
  perform(name, stage, [&](Actor& actor) {
    actor.click("skip");
    actor.frames(4);
    script(actor);
  });
}

}  // namespace

TEST_CASE("a click on a kernel selects it and draws its arrows, and Esc deselects it", "[gui]") {
  on_kernels("select a kernel", [](Actor& actor) {
    actor.picture("lanes");
    const TimelineView& view = actor.page().figures().view();
    actor.ctx->MouseMoveToPos(on_box(actor, "AdamW"));
    actor.ctx->MouseClick(0);
    actor.frames(2);
    IM_CHECK(view.kernel().has_value());
    IM_CHECK(lanes(actor).flows.size() == 1);  // the arrow from the kernel's launch
    actor.picture("lanes selected");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(2);
    IM_CHECK(!view.kernel().has_value());
    IM_CHECK(lanes(actor).flows.empty());
  });
}

TEST_CASE("a search steps through the kernels of a name, forward and back, and shows each", "[gui]") {
  on_kernels("find a kernel", [](Actor& actor) {
    const TimelineView& view = actor.page().figures().view();
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_F);
    actor.frames(2);
    actor.ctx->KeyChars("q projection");
    actor.frames(2);
    IM_CHECK_STR_EQ(view.find().c_str(), "q projection");
    const auto found = lanes(actor).found;
    IM_CHECK_EQ(found.size(), 32u);  // 16 layers, forward and backward
    const auto shows = [&](std::size_t i) {
      return view.kernel() == found[i].span && view.visible().begin <= found[i].begin &&
             found[i].end <= view.visible().end && view.zoomed();
    };
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(3);
    IM_CHECK(shows(0));
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(3);
    IM_CHECK(shows(1));
    actor.picture("lanes found");
    actor.ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_Enter);
    actor.frames(3);
    IM_CHECK(shows(0));
    actor.ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_Enter);
    actor.frames(3);
    IM_CHECK(shows(found.size() - 1));
  });
}

TEST_CASE("a drag over the lanes marks a range and sums its kernels", "[gui]") {
  on_kernels("mark kernels", [](Actor& actor) {
    const TimelineView& view = actor.page().figures().view();
    const TimelineView::Range full = view.full();
    const app::paint::Rect rows = *scene_of(actor).lanes;
    const float down = rows.y0 + rows.height() * 0.6f - scene_of(actor).map.plot.y1;
    const auto at = [&](double part) {
      const ImVec2 place = actor.on_screen(full.begin + full.length() * part, 0);
      return ImVec2{place.x, place.y + down};
    };
    actor.ctx->MouseMoveToPos(at(0.3));
    actor.ctx->MouseDown(0);
    actor.ctx->MouseMoveToPos(at(0.5));
    actor.ctx->MouseUp(0);
    actor.frames(2);
    IM_CHECK(view.measure().has_value());
    IM_CHECK(lanes(actor).marked.find("kernels") != std::string::npos);
    IM_CHECK(lanes(actor).marked.find("% busy") != std::string::npos);
    actor.picture("lanes marked");
  });
}

TEST_CASE("one line offers a traced run and starts it with the current settings", "[gui]") {
  Scene scene;
  perform("trace this run", scene.stage, [&](Actor& actor) {
    IM_CHECK(!actor.there("trace"));
    actor.click("skip");
    actor.frames(2);
    const record::Params before = actor.page().settings();
    actor.picture("trace offered");
    actor.click("trace");
    actor.frames(2);
    IM_CHECK_EQ(scene.backend.starts(), 1);
    IM_CHECK_STR_EQ(scene.backend.last_params().as_text("trace").c_str(), "on");
    IM_CHECK_EQ(scene.backend.last_params().integer("batch"), before.integer("batch"));
    actor.wait_for_end_of_run();
  });
}

TEST_CASE("lanes are drawn in every theme and size", "[gui]") {
  for (const auto theme :
       {app::window::ThemeId::kLight, app::window::ThemeId::kDark, app::window::ThemeId::kHighContrast})
    for (const int width : {1280, 1920}) {
      Stage stage = shipped("kernels_of_a_step");
      stage.theme = theme;
      stage.width = width;
      stage.height = width * 9 / 16;
      const auto drawn = [&](Actor& actor) {
        IM_CHECK(scene_of(actor).lanes.has_value());
        IM_CHECK(scene_of(actor).lanes->y1 <= scene_of(actor).height);
        IM_CHECK(scene_of(actor).lanes->height() > 4 * 16);
        actor.picture("lanes " + std::to_string(static_cast<int>(theme)) + " " + std::to_string(width));
      };
      on_kernels("lanes", drawn, stage);
    }
}
