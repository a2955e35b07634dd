// Every page fits its window and stage, and shows something. HEADROOM_SHOTS saves pictures in more sizes and in dark.
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "imgui_internal.h"  // ImGuiWindow: scrolling
#include "imgui_te_engine.h"
#include "tests/gui/harness.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::window::ThemeId;

namespace {

struct Look {
  const char* name;
  int width, height;
  float scale;
  ThemeId theme;
  bool stage = false, for_pictures = false;
};
constexpr Look kLooks[] = {{"small", 1280, 720, 1, ThemeId::kLight},
                           {"large_dark", 1920, 1080, 1, ThemeId::kDark, false, true},
                           {"scale_2", 1920, 1080, 2, ThemeId::kLight, false, true},
                           {"stage", 1920, 1080, 1, ThemeId::kLight, true},
                           {"stage_dark", 1280, 720, 1, ThemeId::kDark, true, true}};

void look_at(Actor& actor, const Look& look, const lessons::Page& page) {
  actor.jump(page.id);
  actor.question().skip();
  actor.frames(6);
  IM_CHECK_STR_EQ(actor.page().page().id.c_str(), page.id.c_str());
  const ImGuiWindow* window = ImGui::FindWindowByName("headroom");
  IM_CHECK_EQ(window->ScrollMax.x, 0.0f);
  IM_CHECK_EQ(window->ScrollMax.y, 0.0f);
  IM_CHECK_STR_EQ(actor.page().figure(400).head.empty_reason.c_str(), "");
  actor.picture(fmt::format("{} {} 1", look.name, page.id));
  if (page.more.empty()) return;
  actor.app.view().state().reading_more = true;
  actor.app.view().state().step = 0;
  actor.frames(4);
  actor.picture(fmt::format("{} {} 2", look.name, page.id));
  actor.app.view().state().reading_more = false;
  actor.frames(1);
}

}  // namespace

TEST_CASE("every page fits its windows and the stage", "[gui]") {
  for (const Look& look : kLooks) {
    if (look.for_pictures && std::getenv("HEADROOM_SHOTS") == nullptr) continue;
    Stage stage = shipped("where_memory_goes");
    stage.width = look.width;
    stage.height = look.height;
    stage.scale = look.scale;
    stage.theme = look.theme;
    perform(look.name, stage, [&](Actor& actor) {
      actor.app.ui().stage = look.stage;
      actor.frames(2);
      for (const lessons::Page* page : actor.app.course().pages()) {
        if (actor.ctx->IsError()) return;
        look_at(actor, look, *page);
      }
    });
  }
}
