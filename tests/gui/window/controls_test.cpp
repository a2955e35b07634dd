// Settings, keys, theme, scale and the narrow page.
#include <string>
#include <vector>

#include "app/page/words/page_words.h"
#include "imgui_internal.h"  // NavId: keyboard focus
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::page::Question;
using app::window::ThemeId;

TEST_CASE("settings are chosen, slid and typed, and bad values are refused", "[gui]") {
  Scene scene;
  perform("settings", scene.stage, [&](Actor& actor) {
    actor.ctx->ItemClick("**/checkpointing/choice");
    actor.frames(2);
    actor.ctx->ItemClick("//$FOCUSED/$$1/option");
    actor.frames(2);
    IM_CHECK(actor.page().control().params().text("checkpointing") == "layer");
    const ImGuiTestItemInfo slider = actor.ctx->ItemInfo("**/batch/slider");
    actor.ctx->MouseMoveToPos({slider.RectFull.Max.x - 2, slider.RectFull.GetCenter().y});
    actor.ctx->MouseClick(0);
    IM_CHECK_EQ(actor.page().control().params().integer("batch"), 256);
    actor.ctx->ItemClick("**/seq/edit");
    actor.frames(2);
    actor.ctx->KeyCharsReplaceEnter("300");
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("seq"), 300);
    actor.ctx->ItemClick("**/seq/edit");
    actor.frames(2);
    actor.ctx->KeyCharsReplaceEnter("3");
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("seq"), 300);
    IM_CHECK(!actor.app.view().state().settings.refused.empty());
    actor.picture("refused value");
    IM_CHECK(actor.page().set_param("steps", "1000").ok());
    actor.click("run");  // takes minutes on any machine
    IM_CHECK_EQ(scene.backend.starts(), 0);
    IM_CHECK(actor.app.view().state().asked.run);
    actor.picture("run asks");
    actor.frames(1);
    actor.click("run");
    IM_CHECK_EQ(scene.backend.starts(), 1);
    IM_CHECK_EQ(scene.backend.last_params().integer("seq"), 300);
    actor.wait_for_end_of_run();
  });
}

TEST_CASE("Run is Run again only for settings that ran, and always has its estimate", "[gui]") {
  const bool wide = GENERATE(false, true);
  Scene scene;
  if (wide) scene.stage.width = 1920, scene.stage.height = 1080;
  perform("run again", scene.stage, [&](Actor& actor) {
    const auto says = [&](const char* words) {
      for (const std::string& text : actor.texts())
        if (text.starts_with(words)) return true;
      return false;
    };
    actor.click("skip");
    actor.frames(2);
    IM_CHECK(says("about"));
    IM_CHECK(!says("Run again"));
    actor.click("run");
    actor.wait_for_end_of_run();
    actor.frames(2);
    IM_CHECK(says("Run again"));
    IM_CHECK(actor.page().set_param("batch", "3").ok());
    actor.frames(2);
    IM_CHECK(actor.there("back to begin"));
    IM_CHECK(!says("Run again"));
    IM_CHECK(says("Run, about"));
    actor.picture("run with estimate");
  });
}

TEST_CASE("folded settings are under More", "[gui]") {
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

TEST_CASE("a focused slider follows the arrow keys", "[gui]") {
  Scene scene;
  perform("slider by keys", scene.stage, [](Actor& actor) {
    const std::int64_t before = actor.page().control().params().integer("batch");
    actor.ctx->ItemNavActivate("**/batch/slider");
    actor.ctx->KeyPress(ImGuiKey_RightArrow);
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("batch"), before + 1);
    actor.ctx->KeyPress(ImGuiKey_LeftArrow);
    actor.ctx->KeyPress(ImGuiKey_LeftArrow);
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("batch"), before - 1);
  });
}

TEST_CASE("a drag on a value scrubs it, and the wheel steps the slider at the mouse", "[gui]") {
  Scene scene;
  perform("scrubbed value", scene.stage, [](Actor& actor) {
    const auto batch = [&] { return actor.page().settings().integer("batch"); };
    const std::int64_t before = batch();
    const ImRect value = actor.ctx->ItemInfo("**/batch/edit").RectFull,
                 track = actor.ctx->ItemInfo("**/batch/slider").RectFull;
    actor.ctx->MouseMoveToPos(value.GetCenter());
    actor.ctx->MouseDown(0);
    actor.ctx->MouseMoveToPos({value.GetCenter().x + track.GetWidth(), value.GetCenter().y});
    actor.ctx->MouseUp(0);
    actor.frames(2);
    IM_CHECK_EQ(batch(), 256);
    IM_CHECK(actor.app.view().state().settings.editing.empty());
    IM_CHECK(actor.page().undo());  // the whole drag is one step
    IM_CHECK_EQ(batch(), before);
    for (const ImVec2 at : {track.GetCenter(), actor.ctx->ItemInfo("**/batch/edit").RectFull.GetCenter()}) {
      actor.ctx->MouseMoveToPos(at);
      actor.ctx->MouseWheelY(1);
      actor.frames(2);
      IM_CHECK_EQ(batch(), before + 1);
      actor.ctx->MouseWheelY(-1);
      actor.frames(2);
      IM_CHECK_EQ(batch(), before);
    }
    actor.ctx->MouseMoveToPos({track.GetCenter().x, track.Max.y + 40});
    actor.ctx->MouseWheelY(1);
    actor.frames(2);
    IM_CHECK_EQ(batch(), before);
  });
}

TEST_CASE("digits typed at a slider go into its value and turn no switch", "[gui]") {
  Stage stage = shipped("checkpointing");
  stage.width = 1920, stage.height = 1080;
  ScriptedBackend backend(small_run());
  stage.runner = &backend;
  perform("typed at a slider", stage, [](Actor& actor) {
    actor.frames(20);
    actor.question().skip();
    (void)actor.page().set_param("batch", "2");
    (void)actor.page().set_param("seq", "512");
    actor.frames(6);
    const record::Params before = actor.page().settings();
    const auto type = [&](const char* digits) {
      for (const char* each = digits; *each != 0; ++each) {
        const auto key = static_cast<ImGuiKey>(ImGuiKey_0 + (*each - '0'));
        actor.ctx->KeyDown(key);
        actor.ctx->KeyChars(std::string(1, *each).c_str());
        actor.ctx->KeyUp(key);
      }
    };
    actor.ctx->MouseMoveToPos(actor.ctx->ItemInfo("**/batch/slider").RectFull.GetCenter());
    actor.frames(2);
    type("64");
    actor.frames(3);
    actor.picture("typed at a slider");
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(3);
    record::Params wanted = before;
    IM_CHECK(wanted.set("batch", "64").ok());
    IM_CHECK(actor.page().settings() == wanted);
    IM_CHECK(actor.page().undo());
    IM_CHECK(actor.page().settings() == before);

    type("12");
    actor.frames(3);
    actor.ctx->MouseMoveToPos({600, 300});
    actor.ctx->MouseClick(0);  // a click elsewhere takes the number, too
    actor.frames(3);
    IM_CHECK_EQ(actor.page().settings().integer("batch"), 12);
    IM_CHECK(actor.page().undo());
    actor.ctx->ItemNavActivate("**/batch/slider");
    actor.ctx->MouseMoveToPos({600, 300});
    actor.ctx->KeyPress(ImGuiKey_RightArrow);  // the focus is visible
    actor.frames(2);
    type("32");
    actor.frames(3);
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    IM_CHECK_EQ(actor.page().settings().integer("batch"), 3);
    type("5");
    actor.frames(3);
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(3);
    IM_CHECK_EQ(actor.page().settings().integer("batch"), 5);
  });
}

TEST_CASE("the tooltip at the mouse wins over the focused control's, and has its size at once", "[gui]") {
  Scene scene;
  perform("tooltips", scene.stage, [](Actor& actor) {
    const auto tip = [&] {
      const ImGuiWindow* shown = nullptr;
      for (const ImGuiWindow* each : ImGui::GetCurrentContext()->Windows)
        if ((each->Flags & ImGuiWindowFlags_Tooltip) != 0 && each->Active && !each->Hidden) shown = each;
      return shown == nullptr ? ImVec2() : shown->Size;
    };
    const auto pointed_at = [&](const char* control) {
      actor.ctx->MouseMove(control);
      actor.ctx->SleepNoSkip(1.5f, 1.0f / 30);
      return tip();
    };
    const ImVec2 theme = pointed_at("**/theme");
    const ImVec2 exports = pointed_at("**/export");
    IM_CHECK_GT(exports.x, 0);
    IM_CHECK_NE(exports.x, theme.x);
    (void)pointed_at("**/theme");
    actor.ctx->MouseTeleportToPos(actor.ctx->ItemInfo("**/export").RectFull.GetCenter());
    for (int i = 0; i < 100 && tip().x > 0; ++i) actor.frames(1);
    for (int i = 0; i < 100 && tip().x == 0; ++i) actor.frames(1);
    IM_CHECK_EQ(tip().x, exports.x);  // in its first frame
    actor.ctx->ItemNavActivate("**/theme");
    actor.ctx->MouseMove("**/export");
    actor.ctx->KeyPress(ImGuiKey_Home);  // ImGui now prefers the control with the focus
    actor.ctx->SleepNoSkip(1.5f, 1.0f / 30);
    IM_CHECK_EQ(tip().x, exports.x);
  });
}

TEST_CASE("Tab reaches every control, and Enter presses it", "[gui]") {
  Scene scene;
  perform("keyboard path", scene.stage, [](Actor& actor) {
    actor.guess(110 * kMiB);  // else there is nothing to lock
    std::vector<std::string> names{"##guess",      "lock",         "skip",       "export",     "keys",
                                   "theme",        "timeline",     "axis",       "run",        "more settings",
                                   "model/choice", "batch/slider", "batch/edit", "cap/slider", "precision/choice",
                                   "device/choice"};
    for (int i = 0; i < 80 && !names.empty(); ++i) {
      actor.ctx->KeyPress(ImGuiKey_Tab);
      const ImGuiID focused = ImGui::GetCurrentContext()->NavId;
      IM_CHECK(focused != 0);
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

TEST_CASE("theme and scale change at once", "[gui]") {
  Scene scene;
  perform("theme and scale", scene.stage, [](Actor& actor) {
    actor.click("theme");
    actor.frames(2);
    IM_CHECK(app::window::look().theme == ThemeId::kDark);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_T);
    actor.frames(2);
    IM_CHECK(app::window::look().theme == ThemeId::kHighContrast);
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

TEST_CASE("the key ? shows the page of keys, and Esc closes it", "[gui]") {
  Scene scene;
  perform("keys", scene.stage, [](Actor& actor) {
    actor.ctx->KeyChars("?");
    actor.frames(3);
    actor.picture("popup keys");
    IM_CHECK(ImGui::IsPopupOpen("keys page", ImGuiPopupFlags_AnyPopupLevel | ImGuiPopupFlags_AnyPopupId));
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    IM_CHECK(!ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupLevel | ImGuiPopupFlags_AnyPopupId));
    actor.click("keys");
    actor.frames(3);
    IM_CHECK(ImGui::IsPopupOpen("keys page", ImGuiPopupFlags_AnyPopupLevel | ImGuiPopupFlags_AnyPopupId));
  });
}

TEST_CASE("keys scroll the text forward and back", "[gui]") {
  Scene scene;
  scene.stage.page = "number_formats";  // its first step has a figure and a table
  scene.stage.height = 480;
  perform("reading by keys", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    actor.ctx->MouseMoveToPos({200, 300});
    actor.ctx->MouseWheelY(-50);
    actor.frames(2);
    actor.click("more");
    actor.frames(3);
    IM_CHECK(!actor.app.view().state().words.above);
    IM_CHECK(actor.app.view().state().words.below);
    int pages = 0;
    for (; pages < 50 && actor.app.view().state().words.below; ++pages) {
      actor.ctx->KeyPress(pages % 2 == 0 ? ImGuiKey_Space : ImGuiKey_PageDown);
      actor.frames(3);
      IM_CHECK(actor.app.view().state().words.above);
    }
    IM_CHECK_GT(pages, 1);
    IM_CHECK_LT(pages, 50);
    actor.picture("read to the end");
    for (int i = 0; i < pages; ++i) {
      actor.ctx->KeyPress(ImGuiKey_PageUp);
      actor.frames(3);
    }
    IM_CHECK(!actor.app.view().state().words.above);
    IM_CHECK(!ImGui::GetIO().NavVisible);  // the keys scrolled, without moving the focus
  });
}

TEST_CASE("popups stay inside the window at every scale", "[gui]") {
  for (const float scale : {1.0f, 2.0f, 3.0f}) {
    Scene scene;
    scene.stage.scale = scale;
    const std::string name = "popups at " + std::to_string(scale).substr(0, 3);
    perform(name.c_str(), scene.stage, [&](Actor& actor) {
      IM_CHECK(actor.page().set_param("model", "custom").ok());
      const auto inside = [&](const std::string& what) {
        actor.frames(3);
        const ImGuiContext& context = *ImGui::GetCurrentContext();
        IM_CHECK(context.OpenPopupStack.Size > 0);
        const ImRect rect = context.OpenPopupStack.back().Window->Rect();
        const ImVec2 screen = ImGui::GetMainViewport()->Size;
        IM_CHECK_GE(rect.Min.x, 0.0f);
        IM_CHECK_GE(rect.Min.y, 0.0f);
        IM_CHECK_LE(rect.Max.x, screen.x);
        IM_CHECK_LE(rect.Max.y, screen.y);
        actor.picture("popup " + what + " at " + std::to_string(scale).substr(0, 3));
      };
      const auto close = [&] {
        for (int i = 0; i < 3 && ImGui::GetCurrentContext()->OpenPopupStack.Size > 0; ++i) {
          actor.ctx->KeyPress(ImGuiKey_Escape);
          actor.frames(2);
        }
      };
      actor.ctx->KeyChars("?");
      inside("keys");
      close();
      actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_E);
      inside("export");
      close();
      std::string settings = "**/";
      if (scale > 1.1f) {
        actor.app.view().state().figure_face = true;
        actor.frames(2);
        actor.click("settings");
        inside("settings");
        settings = "//$FOCUSED/";
      }
      actor.ctx->ItemClick((settings + "model/choice").c_str());
      inside("model");
      actor.ctx->KeyPress(ImGuiKey_Escape);
      actor.frames(2);
      actor.ctx->ItemClick((settings + "more settings").c_str());
      inside("more");
      close();
    });
  }
}

TEST_CASE("text and figure are side by side at scale 2 on a common screen", "[gui]") {
  Scene scene;
  scene.stage.width = 1920;
  scene.stage.height = 1080;
  scene.stage.scale = 2;
  perform("scale 2", scene.stage, [&](Actor& actor) {
    IM_CHECK(actor.there("skip") && actor.there("timeline"));
    actor.picture("scale 2 question");
    actor.guess(110 * kMiB);
    actor.click("act");
    actor.frames(3);
    IM_CHECK(actor.question().locked());
    IM_CHECK(actor.there("timeline"));
    actor.picture("scale 2 answer");
    actor.ctx->KeyPress(ImGuiKey_F);
    actor.frames(3);
    IM_CHECK(actor.app.ui().figure_only);
    actor.picture("scale 2 figure only");
    actor.frames(1);
  });
}

TEST_CASE("a narrow window shows text and figure in turn", "[gui]") {
  Scene scene;
  scene.stage.width = 1800;
  scene.stage.height = 1080;
  scene.stage.scale = 2;
  perform("narrow", scene.stage, [&](Actor& actor) {
    IM_CHECK(actor.there("skip"));
    IM_CHECK(!actor.there("timeline"));
    IM_CHECK(!actor.app.view().state().words.below);  // all words are visible, the answer next to them
    const ImGuiTestItemInfo lock = actor.ctx->ItemInfo("**/lock");
    IM_CHECK_EQ(lock.RectClipped.GetHeight(), lock.RectFull.GetHeight());
    actor.picture("narrow reading");
    actor.ctx->ItemClick("**/face/Figure");
    actor.frames(3);
    IM_CHECK(actor.there("timeline"));
    actor.guess(110 * kMiB);
    actor.click("act");
    actor.frames(3);
    IM_CHECK(actor.question().locked());
    actor.click("drawer");
    IM_CHECK(actor.app.view().state().drawer);
    actor.picture("narrow drawer");
    actor.click("drawer");
    actor.click("settings");
    actor.frames(2);
    actor.picture("narrow settings");
    actor.ctx->ItemClick("//$FOCUSED/checkpointing/choice");
    actor.frames(2);
    actor.ctx->ItemClick("//$FOCUSED/$$1/option");
    actor.frames(2);
    IM_CHECK(actor.page().control().params().text("checkpointing") == "layer");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(2);
    actor.click("act");
    IM_CHECK_EQ(scene.backend.starts(), 1);
    actor.wait_for_end_of_run();
    scene.backend.hold(true);
    actor.click("act");
    actor.frames(2);
    IM_CHECK(actor.app.running());
    actor.click("act");  // cancels
    IM_CHECK_EQ(scene.backend.cancels(), 1);
  });
}

TEST_CASE("a small window scrolls its text, not the page, and shows errors on both faces", "[gui]") {
  Scene scene;
  scene.stage.scale = 2;  // in a 1280 x 720 window
  perform("narrow and low", scene.stage, [&](Actor& actor) {
    const ImGuiWindow* page = ImGui::FindWindowByName("headroom");
    IM_CHECK_EQ(page->ScrollMax.x, 0.0f);
    IM_CHECK_EQ(page->ScrollMax.y, 0.0f);
    IM_CHECK(actor.app.view().state().words.below);
    actor.ctx->KeyPress(ImGuiKey_Space);  // scrolls, then turns to the figure
    actor.frames(3);
    IM_CHECK(actor.app.view().state().words.above);
    actor.picture("narrow and low, read on");
    for (int i = 0; i < 5 && !actor.app.view().state().figure_face; ++i) {
      actor.ctx->KeyPress(ImGuiKey_Space);
      actor.frames(3);
    }
    IM_CHECK(actor.app.view().state().figure_face);
    IM_CHECK(actor.question().hides());
    actor.click("skip");
    actor.frames(3);
    IM_CHECK(actor.question().state() == Question::State::kSkipped);
    // The head is too narrow for the choice of figure and that of the time axis, which moves to the settings.
    IM_CHECK(actor.ctx->ItemInfo("**/figures").RectFull.Max.x <= actor.ctx->ItemInfo("**/drawer").RectFull.Min.x);
    IM_CHECK(!actor.there("axis"));
    actor.click("settings");
    actor.frames(2);
    actor.picture("narrow and low, settings");
    actor.ctx->ItemClick("//$FOCUSED/axis");
    actor.frames(2);
    actor.ctx->ItemClick("//$FOCUSED/$$3/option");
    actor.frames(2);
    IM_CHECK(actor.page().figures().params().text("axis") == "event");
    for (int i = 0; i < 3 && ImGui::GetCurrentContext()->OpenPopupStack.Size > 0; ++i) {
      actor.ctx->KeyPress(ImGuiKey_Escape);
      actor.frames(2);
    }
    actor.click("figures");
    actor.frames(2);
    actor.ctx->ItemClick("//$FOCUSED/$$1/option");
    actor.frames(2);
    IM_CHECK_EQ(actor.page().figures().tab(), 1);
    actor.page().show_tab(0);
    actor.frames(2);
    const float top = actor.ctx->ItemInfo("**/timeline").RectFull.Min.y;
    IM_CHECK(!notice_of(actor.page()));
    scene.backend.set_trouble("The engine died three times in two minutes.");
    actor.frames(3);
    IM_CHECK_GT(actor.ctx->ItemInfo("**/timeline").RectFull.Min.y, top);  // the notice is above the timeline
    actor.picture("narrow trouble");
    actor.ctx->KeyPress(ImGuiKey_PageUp);
    actor.frames(2);
    IM_CHECK(!actor.app.view().state().figure_face);
  });
}

TEST_CASE("the reader's choices are kept", "[gui]") {
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
