// Settings, keys, theme, scale and the narrow page, driven by clicks and keys.
#include <string>
#include <vector>

#include "imgui_internal.h"  // NavId: what has the keyboard's focus
#include "imgui_te_engine.h"
#include "tests/gui/page_scene.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::window::Question;
using app::window::ThemeId;

TEST_CASE("settings: a choice, a slider, a typed value, a value that is refused", "[gui]") {
  Scene scene;
  perform("settings", scene.stage, [&](Actor& actor) {
    actor.ctx->ItemClick("**/checkpointing/choice/each layer");
    IM_CHECK(actor.page().control().params().text("checkpointing") == "layer");
    const ImGuiTestItemInfo slider = actor.ctx->ItemInfo("**/batch/slider");
    actor.ctx->MouseMoveToPos({slider.RectFull.Max.x - 2, slider.RectFull.GetCenter().y});
    actor.ctx->MouseClick(0);
    IM_CHECK_EQ(actor.page().control().params().integer("batch"), 256);
    actor.ctx->ItemDoubleClick("**/seq/edit");
    actor.frames(2);
    actor.ctx->KeyCharsReplaceEnter("300");
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("seq"), 300);
    actor.ctx->ItemDoubleClick("**/seq/edit");
    actor.frames(2);
    actor.ctx->KeyCharsReplaceEnter("3");
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("seq"), 300);
    IM_CHECK(!actor.app.ui().notice.empty());
    actor.click("run");
    IM_CHECK_EQ(scene.backend.last_params().integer("seq"), 300);
    actor.wait_for_end_of_run();
  });
}

TEST_CASE("settings that are folded away are behind More", "[gui]") {
  Scene scene;
  perform("more settings", scene.stage, [](Actor& actor) {
    IM_CHECK(!actor.there("steps/slider"));
    actor.click("more settings");
    actor.frames(2);
    actor.picture("popup more settings");
    const ImGuiTestItemInfo slider = actor.ctx->ItemInfo("//$FOCUSED/steps/slider");
    actor.ctx->MouseMoveToPos({slider.RectFull.Min.x + 2, slider.RectFull.GetCenter().y});
    actor.ctx->MouseClick(0);
    IM_CHECK_EQ(actor.page().control().params().integer("steps"), 1);
  });
}

TEST_CASE("a slider that has the focus follows the arrow keys", "[gui]") {
  Scene scene;
  perform("slider by keys", scene.stage, [](Actor& actor) {
    const std::int64_t before = actor.page().control().params().integer("batch");
    actor.ctx->ItemNavActivate("**/batch/slider");
    actor.ctx->KeyPress(ImGuiKey_RightArrow);
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("batch"), before * 2);
    actor.ctx->KeyPress(ImGuiKey_LeftArrow);
    actor.ctx->KeyPress(ImGuiKey_LeftArrow);
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("batch"), before / 2);
  });
}

TEST_CASE("Tab reaches every control, and Enter presses it", "[gui]") {
  Scene scene;
  perform("keyboard path", scene.stage, [](Actor& actor) {
    std::vector<std::string> names{"##guess",      "lock",         "skip",       "export",     "keys",
                                   "theme",        "timeline",     "axis",       "run",        "more settings",
                                   "model/choice", "batch/slider", "batch/edit", "cap/slider", "precision/choice/bf16",
                                   "device/choice"};
    for (int i = 0; i < 80 && !names.empty(); ++i) {
      actor.ctx->KeyPress(ImGuiKey_Tab);
      const ImGuiID focused = ImGui::GetCurrentContext()->NavId;
      std::erase_if(names,
                    [&](const std::string& name) { return actor.ctx->ItemInfo(("**/" + name).c_str()).ID == focused; });
    }
    for (const std::string& name : names) IM_CHECK_STR_EQ(name.c_str(), "reached by Tab");
    actor.picture("focus by Tab");
    const ImGuiID skip = actor.ctx->ItemInfo("**/skip").ID;
    for (int i = 0; i < 80 && ImGui::GetCurrentContext()->NavId != skip; ++i) actor.ctx->KeyPress(ImGuiKey_Tab);
    actor.picture("focus on Skip");
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(2);
    IM_CHECK(actor.question().state() == Question::State::kSkipped);
  });
}

TEST_CASE("theme and scale change on the spot", "[gui]") {
  Scene scene;
  perform("theme and scale", scene.stage, [](Actor& actor) {
    actor.click("theme");
    actor.frames(2);
    IM_CHECK(app::window::theme().id == ThemeId::kDark);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_T);
    actor.frames(2);
    IM_CHECK(app::window::theme().id == ThemeId::kHighContrast);
    actor.picture("high contrast");
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Equal);
    actor.frames(2);
    IM_CHECK_EQ(app::window::look().scale, 1.125f);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_0);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Minus);
    actor.frames(2);
    IM_CHECK_EQ(app::window::look().scale, 0.875f);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_0);
    actor.frames(2);
    IM_CHECK_EQ(app::window::look().scale, 1.0f);
  });
}

TEST_CASE("? shows the keys, Esc closes them", "[gui]") {
  Scene scene;
  perform("keys", scene.stage, [](Actor& actor) {
    actor.ctx->KeyChars("?");
    actor.frames(3);
    actor.picture("popup keys");
    IM_CHECK(ImGui::IsPopupOpen("keys page", ImGuiPopupFlags_AnyPopupLevel | ImGuiPopupFlags_AnyPopupId));
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    IM_CHECK(!ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupLevel | ImGuiPopupFlags_AnyPopupId));
  });
}

TEST_CASE("a narrow window has text and figure as two faces", "[gui]") {
  Scene scene;
  scene.stage.width = 1920;
  scene.stage.height = 1080;
  scene.stage.scale = 2;
  perform("narrow", scene.stage, [&](Actor& actor) {
    IM_CHECK(actor.there("skip"));
    IM_CHECK(!actor.there("timeline"));
    actor.ctx->ItemClick("**/face/Figure");
    actor.frames(3);
    IM_CHECK(actor.there("timeline"));
    actor.click("act");  // locks the answer
    actor.frames(3);
    IM_CHECK(actor.question().locked());
    actor.click("drawer");
    IM_CHECK(actor.app.ui().drawer);
    actor.picture("narrow drawer");
    actor.click("drawer");
    actor.click("settings");
    actor.frames(2);
    actor.picture("narrow settings");
    actor.ctx->ItemClick("//$FOCUSED/checkpointing/choice/each layer");
    IM_CHECK(actor.page().control().params().text("checkpointing") == "layer");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(2);
    actor.click("act");
    IM_CHECK_EQ(scene.backend.starts(), 1);
    actor.wait_for_end_of_run();
  });
}

TEST_CASE("what the reader chose is kept", "[gui]") {
  Scene scene;
  const std::filesystem::path file = scene.assets.path() / "settings.json";
  {
    app::SettingsFile settings(file);
    scene.stage.settings = &settings;
    perform("settings kept", scene.stage, [](Actor& actor) {
      actor.click("theme");
      actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Equal);
      actor.frames(2);
    });
  }
  const app::SettingsFile again(file);
  CHECK(again.values().theme == "dark");
  CHECK(again.values().font_scale == Approx(1.125));
  CHECK(again.values().page == "where_memory_goes");
}
