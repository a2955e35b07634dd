// Finding the way: the list of everything, the glossary, links, and going back.
#include <filesystem>
#include <fstream>
#include <string>

#include "app/common/settings.h"
#include "app/page/page_facts.h"
#include "imgui_internal.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::tests;
using app::window::ThemeId;

namespace {

std::string here(const Actor& actor) { return actor.page().page().id; }

bool is_open(const char* popup) {
  ImGuiWindow* const window = ImGui::FindWindowByName("headroom");
  return ImGui::IsPopupOpen(window->GetID(popup), ImGuiPopupFlags_None);
}

void open_list(const Actor& actor, const char* typed) {
  actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
  actor.frames(3);
  IM_CHECK(is_open("finder"));
  actor.ctx->KeyChars(typed);
  actor.frames(3);
}

void choose(const Actor& actor, const char* typed) {
  open_list(actor, typed);
  actor.ctx->KeyPress(ImGuiKey_Enter);
  actor.frames(4);
  IM_CHECK(!is_open("finder"));
}

bool says(const Actor& actor, std::string_view words) { return actor.app.ui().notice.find(words) != std::string::npos; }

const char* clipboard(const Actor&) { return ImGui::GetClipboardText(); }

ImGuiID focused() { return ImGui::GetCurrentContext()->NavId; }

}  // namespace

TEST_CASE("the finder opens pages while typing, by keys and by the mouse", "[gui][ways]") {
  Scene scene;
  perform("list of everything", scene.stage, [](Actor& actor) {
    const std::string first = here(actor);
    open_list(actor, "");
    actor.picture("list, nothing typed");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    IM_CHECK(!is_open("finder"));
    IM_CHECK_STR_EQ(here(actor).c_str(), first.c_str());

    open_list(actor, "checkpointing");
    actor.picture("list, checkpointing");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    choose(actor, tests::page("flce").title.c_str());
    IM_CHECK_STR_EQ(here(actor).c_str(), "flce");

    open_list(actor, "");
    actor.ctx->KeyPress(ImGuiKey_DownArrow);
    actor.frames(2);
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(4);
    IM_CHECK_STR_EQ(here(actor).c_str(), actor.app.course().pages()[0]->id.c_str());
    open_list(actor, "");
    actor.click("found 2");  // the bench comes first
    actor.frames(4);
    IM_CHECK_STR_EQ(here(actor).c_str(), first.c_str());
    open_list(actor, "qwrtz");
    actor.picture("list, nothing found");
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(3);
    IM_CHECK_STR_EQ(here(actor).c_str(), first.c_str());
  });
}

TEST_CASE("a term opens its glossary entry, which opens pages", "[gui][ways]") {
  Scene scene;
  perform("glossary", scene.stage, [](Actor& actor) {
    choose(actor, "optimizer state");
    IM_CHECK(is_open("glossary"));
    actor.picture("glossary, a term");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    IM_CHECK(!is_open("glossary"));
    choose(actor, "glossary");
    IM_CHECK(is_open("glossary"));
    actor.picture("glossary, from its begin");
    actor.click("activations/checkpointing");
    actor.frames(4);
    IM_CHECK(!is_open("glossary"));
    IM_CHECK_STR_EQ(here(actor).c_str(), "checkpointing");
  });
}

TEST_CASE("a click on a term in the text opens its glossary entry", "[gui][ways]") {
  Scene scene;
  perform("term clicked", scene.stage, [](Actor& actor) {
    const auto& lit = actor.app.view().state().lit;
    for (float y = 100; y < 400 && !lit; y += 7)
      for (float x = 80; x < 380 && !lit; x += 15) {
        actor.ctx->MouseMoveToPos({x, y});
        actor.frames(1);
      }
    IM_CHECK(lit == record::Category::kWeights);
    actor.frames(30);
    IM_CHECK(ImGui::GetMouseCursor() == ImGuiMouseCursor_Hand);
    actor.picture("term pointed at");
    actor.ctx->MouseClick(0);
    actor.frames(4);
    IM_CHECK(is_open("glossary"));
    actor.picture("term clicked");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
  });
}

TEST_CASE("the finder leads to figures, settings, commands and text", "[gui][ways]") {
  Scene scene;
  perform("kinds of what is found", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    choose(actor, "peak by kind");
    const auto& figures = actor.page().page().figures;
    IM_CHECK_STR_EQ(figures[static_cast<std::size_t>(actor.page().figures().tab())].c_str(), "peak_by_category");

    choose(actor, "theme: dark");
    IM_CHECK(actor.app.ui().theme == ThemeId::kDark);
    open_list(actor, "batch");
    actor.picture("list, batch");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    choose(actor, "batch");
    actor.frames(10);
    IM_CHECK_EQ(focused(), actor.ctx->ItemInfo("**/batch/slider").ID);
    actor.picture("setting with focus");
    const std::int64_t batch = actor.page().settings().integer("batch");
    actor.ctx->KeyPress(ImGuiKey_RightArrow);
    actor.frames(2);
    IM_CHECK(actor.page().settings().integer("batch") > batch);

    choose(actor, "micro-batches");  // behind "More settings"
    actor.frames(10);
    IM_CHECK_EQ(focused(), actor.ctx->ItemInfo("**/accumulate/slider").ID);
    actor.picture("folded setting with focus");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);

    const lessons::Page& page = actor.page().page();
    const int last = static_cast<int>(page.more.size()) - 1;
    IM_CHECK(last >= 0);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
    actor.frames(3);
    const std::string step = lessons::markdown_of(page.more[static_cast<std::size_t>(last)].blocks);
    const std::string words = lessons::plain_text(step.substr(step.rfind("\n\n"))).substr(0, 40);
    actor.ctx->KeyChars(words.substr(0, words.rfind(' ')).c_str());
    actor.frames(3);
    actor.picture("list, words of a step");
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(4);
    IM_CHECK(actor.app.view().state().reading_more);
    IM_CHECK_EQ(actor.app.view().state().step, last);
  });
}

TEST_CASE("Enter in the finder does the act that the words name, and says how to undo it", "[gui][ways]") {
  Scene scene;
  perform("acts of the finder", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    const record::Params before = actor.page().settings();
    open_list(actor, "batch 8");
    actor.picture("list, batch 8");
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(4);
    IM_CHECK(!is_open("finder"));
    IM_CHECK_EQ(actor.page().settings().integer("batch"), 8);
    IM_CHECK_STR_EQ(actor.app.ui().passing.words.c_str(), "Set batch to 8 sequences · Ctrl Z undoes");
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    actor.frames(2);
    IM_CHECK(actor.page().settings() == before);
    choose(actor, "4090");
    IM_CHECK_STR_EQ(app::page::chosen_card(actor.page())->name.c_str(), "GeForce RTX 4090");
  });
}

TEST_CASE("Enter neither opens another page's text unasked nor does what is not available", "[gui][ways]") {
  Scene scene;
  perform("what Enter leaves alone", scene.stage, [](Actor& actor) {
    const std::string first = here(actor);
    const auto open_after = [&](ImGuiKey key) {
      actor.ctx->KeyPress(key);
      actor.frames(4);
      return is_open("finder");
    };
    open_list(actor, "unpin run a");
    actor.picture("list, a gray command");
    IM_CHECK(open_after(ImGuiKey_Enter));
    IM_CHECK(!open_after(ImGuiKey_Escape));

    const lessons::Page& other = tests::page("flce");
    const std::string front = lessons::plain_text(lessons::markdown_of(other.front));
    open_list(actor, front.substr(0, front.rfind(' ', 40)).c_str());
    actor.picture("list, another page's text");
    IM_CHECK(open_after(ImGuiKey_Enter));
    IM_CHECK_STR_EQ(here(actor).c_str(), first.c_str());
    IM_CHECK(open_after(ImGuiKey_DownArrow));
    IM_CHECK(!open_after(ImGuiKey_Enter));
    IM_CHECK_STR_EQ(here(actor).c_str(), "flce");
  });
}

TEST_CASE("back and forward restore earlier places, by keys and by the mouse", "[gui][ways]") {
  Scene scene;
  perform("back and forward", scene.stage, [](Actor& actor) {
    const std::string first = here(actor);
    const auto press = [&](ImGuiKey key) {
      actor.ctx->KeyPress(ImGuiMod_Alt | key);
      actor.frames(4);
    };
    press(ImGuiKey_LeftArrow);
    IM_CHECK_STR_EQ(here(actor).c_str(), first.c_str());
    actor.click("skip");
    actor.frames(2);
    actor.click("more");
    actor.frames(2);
    choose(actor, tests::page("flce").title.c_str());
    choose(actor, tests::page("schedule").title.c_str());
    press(ImGuiKey_LeftArrow);
    IM_CHECK_STR_EQ(here(actor).c_str(), "flce");
    press(ImGuiKey_LeftArrow);
    IM_CHECK_STR_EQ(here(actor).c_str(), first.c_str());
    IM_CHECK(actor.app.view().state().reading_more);
    press(ImGuiKey_RightArrow);
    IM_CHECK_STR_EQ(here(actor).c_str(), "flce");
    actor.ctx->MouseClick(3);
    actor.frames(4);
    IM_CHECK_STR_EQ(here(actor).c_str(), first.c_str());
    actor.ctx->MouseClick(4);
    actor.frames(4);
    IM_CHECK_STR_EQ(here(actor).c_str(), "flce");
    choose(actor, "forward again");
    IM_CHECK_STR_EQ(here(actor).c_str(), "schedule");
  });
}

TEST_CASE("a link to the current view is copied and pasted into the finder", "[gui][ways]") {
  Scene scene;
  perform("copied link", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    IM_CHECK(actor.page().set_param("batch", "8").ok());
    actor.frames(2);
    choose(actor, "copy a link");
    IM_CHECK_STR_EQ(clipboard(actor), "headroom:where_memory_goes?batch=8");
    actor.picture("link copied");
    IM_CHECK(actor.page().set_param("batch", "2").ok());
    choose(actor, tests::page("flce").title.c_str());
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
    actor.frames(3);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_V);
    actor.frames(3);
    actor.picture("list, a link");
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(4);
    IM_CHECK_STR_EQ(here(actor).c_str(), "where_memory_goes");
    IM_CHECK_STR_EQ(actor.page().settings().as_text("batch").c_str(), "8");
    choose(actor, "headroom:where_memory_go?batch=4");
    IM_CHECK(says(actor, "There is no page \"where_memory_go\": the nearest is where_memory_goes."));
    IM_CHECK_STR_EQ(here(actor).c_str(), "where_memory_goes");
  });
}

TEST_CASE("the window starts with a link and reports its unknown parts", "[gui][ways]") {
  Scene scene;
  scene.stage.page = "headroom:where_memory_goes/2?batch=8&bach=3#peak_by_category";
  perform("start with a link", scene.stage, [](Actor& actor) {
    IM_CHECK_STR_EQ(actor.page().settings().as_text("batch").c_str(), "8");
    IM_CHECK_STR_EQ(std::string(actor.page().figures().shown().id).c_str(), "peak_by_category");
    IM_CHECK(says(actor, "\"bach\""));
    IM_CHECK(says(actor, "Answer this page's question to read step 2 of Read more."));
    actor.picture("start with a link");
  });
}

TEST_CASE("the first start shows the first page, and a later one the last page and step", "[gui][ways]") {
  const TemporaryFolder folder;
  const auto path = folder / "settings.json";
  {
    Scene scene;
    app::SettingsFile file(path);
    scene.stage.settings = &file;
    perform("first start", scene.stage, [](Actor& actor) {
      IM_CHECK_STR_EQ(here(actor).c_str(), actor.app.course().chapters().front().pages.front()->id.c_str());
      actor.click("skip");
      actor.frames(2);
      actor.click("more");
      actor.frames(2);
      actor.ctx->KeyPress(ImGuiKey_PageDown);
      actor.frames(4);
      actor.app.keep_all();
    });
  }
  Scene scene;
  app::SettingsFile file(path);
  const int step = file.values().step;
  CHECK(step >= 0);
  scene.stage.settings = &file;
  perform("later start", scene.stage, [&](Actor& actor) {
    actor.frames(2);
    IM_CHECK_STR_EQ(here(actor).c_str(), file.values().page.c_str());
    IM_CHECK(actor.app.view().state().reading_more);
    IM_CHECK_EQ(actor.app.view().state().step, step);
    choose(actor, "back to the page's opening text");
    IM_CHECK(!actor.app.view().state().reading_more);
    actor.app.keep_all();
    IM_CHECK_EQ(file.values().step, -1);
  });
}

TEST_CASE("finder and glossary fit on stage and in a small window", "[gui][ways]") {
  struct Size {
    int width, height;
    bool stage;
    ThemeId theme;
    const char* name;
  };
  const Size size = GENERATE(Size{1280, 720, true, ThemeId::kLight, "on stage"},
                             Size{1440, 900, false, ThemeId::kDark, "at 1440 x 900"},
                             Size{800, 600, false, ThemeId::kLight, "at 800 x 600"});
  Scene scene;
  scene.stage.width = size.width;
  scene.stage.height = size.height;
  scene.stage.theme = size.theme;
  perform(size.name, scene.stage, [&](Actor& actor) {
    actor.app.ui().stage = size.stage;
    actor.frames(3);
    open_list(actor, "memory");
    actor.frames(2);
    const ImGuiWindow* const list = ImGui::GetCurrentContext()->NavWindow;
    IM_CHECK(list != nullptr);
    IM_CHECK_GE(list->Pos.x, 0.0f);
    IM_CHECK_LE(list->Pos.x + list->Size.x, static_cast<float>(size.width));
    IM_CHECK_LE(list->Pos.y + list->Size.y, static_cast<float>(size.height));
    actor.picture(std::string("list ") + size.name);
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    choose(actor, "needle");
    actor.picture(std::string("glossary ") + size.name);
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    actor.ctx->KeyChars("?");
    actor.frames(4);
    actor.picture(std::string("keys ") + size.name);
  });
}
