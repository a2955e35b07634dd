// Text links that act, by mouse and keyboard.
#include <algorithm>
#include <string>

#include "imgui_internal.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

constexpr std::string_view kPage =
    "---\ntitle: A page of a test\nclaim: It is as it is.\ndemo: train_step\nfigures: memory_timeline\n"
    "recordings: tiny_cpu\nshows: tiny_cpu\nwidgets: settings\n---\n\n"
    "Choose [batch 8](set:batch=8), or [a link of so many words that it goes on in the line below the one it begins "
    "in](set:seq=64&checkpointing=layer). Look at [the needle](view:zoom=loss highlight=logits).\n\n"
    "```question\nkind: number\nanswer: peak_of_step\nfigure: memory_timeline\nlow: 0\nhigh: 1 GiB\n\nHow "
    "high?\n```\n\n"
    "```because\nThe [loss](view:zoom=loss) is over.\n```\n\n<!--more-->\n\nSet [batch 2](set:batch=2).\n";

struct LinkedPage {
  Scene scene;

  LinkedPage() {
    scene.assets.write_text("contents.md", "# Test\n\n## 1 test: Test\n\n- linked\n");
    scene.assets.write_text("linked.md", std::string(kPage));
    scene.stage.page = "linked";
  }
};

std::int64_t batch_of(const Actor& actor) { return actor.page().settings().integer("batch"); }

}  // namespace

TEST_CASE("a link says what it will set, sets it on a click, and highlights its target", "[gui]") {
  LinkedPage page;
  perform("links", page.scene.stage, [](Actor& actor) {
    actor.frames(2);
    actor.ctx->MouseMove("**/link 1");
    actor.frames(3);
    IM_CHECK(ImGui::GetMouseCursor() == ImGuiMouseCursor_Hand);
    actor.picture("link pointed at");
    IM_CHECK(batch_of(actor) != 8);
    actor.click("link 1");
    actor.frames(2);
    IM_CHECK_EQ(batch_of(actor), 8);
    actor.click("link 2 line 2");
    actor.frames(2);
    IM_CHECK_EQ(actor.page().settings().integer("seq"), 64);
    IM_CHECK_STR_EQ(actor.page().settings().text("checkpointing").c_str(), "layer");

    // The third link is plain words, because the question hides its target.
    IM_CHECK(!actor.there("link 3"));
    actor.guess(110 * kMiB);
    actor.click("lock");
    actor.frames(2);
    actor.click("link 4");  // in the reason
    actor.frames(2);
    IM_CHECK(actor.page().figures().view().zoomed());
    actor.picture("link of because");
    actor.page().figures().view().fit_all();
    actor.ctx->MouseMove("**/link 3");
    actor.frames(3);
    IM_CHECK(actor.app.view().state().lit == record::Category::kLogits);
    IM_CHECK(!actor.page().figures().view().zoomed());
    actor.ctx->MouseClick(0);
    actor.frames(2);
    IM_CHECK(actor.page().figures().view().zoomed());
    actor.picture("link clicked");
    actor.ctx->MouseMove("**/export");
    actor.frames(2);
    IM_CHECK(!actor.app.view().state().lit.has_value());

    actor.click("more");
    actor.frames(3);
    actor.click("link 1");
    actor.frames(2);
    IM_CHECK_EQ(batch_of(actor), 2);
  });
}

TEST_CASE("a link opens another page", "[gui]") {
  LinkedPage page;
  std::string opener(kPage);
  opener.replace(opener.find("Set [batch 2](set:batch=2)"), 26, "Open [the other](page:other)");
  page.scene.assets.write_text("contents.md", "# Test\n\n## 1 test: Test\n\n- linked\n- other\n");
  page.scene.assets.write_text("linked.md", opener);
  page.scene.assets.write_text("other.md", std::string(kPage));
  perform("a link to a page", page.scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    actor.click("more");
    actor.frames(3);
    actor.ctx->MouseMove("**/link 1");
    actor.frames(3);
    actor.picture("link to a page pointed at");
    actor.click("link 1");
    actor.frames(3);
    IM_CHECK_STR_EQ(actor.page().page().id.c_str(), "other");
  });
}

TEST_CASE("Tab reaches each link once, and Enter follows it", "[gui]") {
  LinkedPage page;
  perform("links by keyboard", page.scene.stage, [](Actor& actor) {
    actor.frames(2);
    const ImGuiID first = actor.ctx->ItemInfo("**/link 1").ID, second = actor.ctx->ItemInfo("**/link 2").ID;
    const ImGuiID rest = actor.ctx->ItemInfo("**/link 2 line 2").ID;
    IM_CHECK(first != 0 && second != 0 && rest != 0);
    const auto tab_to = [&](ImGuiID wanted) {
      for (int i = 0; i < 80 && ImGui::GetCurrentContext()->NavId != wanted; ++i) {
        actor.ctx->KeyPress(ImGuiKey_Tab);
        IM_CHECK(ImGui::GetCurrentContext()->NavId != rest);
      }
      IM_CHECK_EQ(ImGui::GetCurrentContext()->NavId, wanted);
    };
    tab_to(first);
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(2);
    IM_CHECK_EQ(batch_of(actor), 8);
    IM_CHECK(actor.question().hides());  // the link consumed Enter
    tab_to(second);
    actor.picture("link with focus");
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(2);
    IM_CHECK_EQ(actor.page().settings().integer("seq"), 64);
    tab_to(first);
  });
}

TEST_CASE("links also set settings without an engine, and the closed form follows", "[gui]") {
  LinkedPage page;
  page.scene.stage.runner = nullptr;
  perform("links without an engine", page.scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    actor.click("link 1");
    actor.frames(2);
    IM_CHECK_EQ(batch_of(actor), 8);
    IM_CHECK(actor.page().figure(400).head.source == record::Source::kFormula);
    IM_CHECK(actor.there("link 3"));
  });
}

TEST_CASE("a page with a link to an unknown setting is left out and reported with its place", "[gui]") {
  LinkedPage page;
  std::string text(kPage);
  const std::string good = "[batch 8](set:batch=8)";
  text.replace(text.find(good), good.size(), "[a foo of 1](set:foo=1)");
  page.scene.assets.write_text("contents.md", "# Test\n\n## 1 test: Test\n\n- linked\n- to_nothing\n");
  page.scene.assets.write_text("to_nothing.md", text);
  perform("link to nothing", page.scene.stage, [](Actor& actor) {
    actor.frames(2);
    IM_CHECK_EQ(actor.app.course().pages().size(), 1u);
    const auto texts = actor.texts();
    const auto shown = [&](std::string_view words) {
      return std::ranges::any_of(texts, [&](const std::string& each) { return each.find(words) != std::string::npos; });
    };
    IM_CHECK(shown("For your information"));
    IM_CHECK(actor.app.ui().notice.find("to_nothing.md:11: There is no parameter \"foo\"") != std::string::npos);
    actor.picture("link to nothing");
  });
}
