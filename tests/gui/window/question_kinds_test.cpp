// Choice and order questions, and a tour, on a test's pages.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

constexpr std::string_view kFront =
    "---\ntitle: A page of a test\nclaim: It is as it is.\ndemo: train_step\nfigures: memory_timeline "
    "peak_by_category\n"
    "recordings: tiny_cpu\nshows: tiny_cpu\nwidgets: settings\n---\n\nThe [logits](term:logits) are the needle.\n\n";
constexpr std::string_view kBecause = "\n```because\n**Because** it was measured.\n```\n";

std::string choice_page() {
  return std::string(kFront) +
         "```question\nkind: choice\nfigure: memory_timeline\n\nWhat is the needle?\n\n- [ ] The weights, four bytes "
         "each.\n  misconception: weights\n  reply: Weights stay.\n- [x] The logits.\n- [ ] The gradients, which come "
         "in backward and stay until the optimizer has used them.\n  misconception: gradients\n  reply: They come "
         "later.\n```\n" +
         std::string(kBecause) +
         "\n<!--more-->\n\n```step\nview: zoom=loss highlight=logits cursor=peak\n```\n\nThe loss.\n\n```step\nview: "
         "zoom=all\n```\n\nAll of it.\n\n```figure\nid: peak_by_category\n```\n\n```widget\nsettings\n```\n\nThe "
         "end.\n\n"
         "```sources\n" +
         course().references().begin()->first + "\n```\n";
}

std::string order_page() {
  return std::string(kFront) +
         "```question\nkind: order\nmisconception: weights_largest\nreply: The moments are two per weight.\n\nFrom "
         "small "
         "to large?\n\n1. Weights\n2. Moments\n3. Activations\n```\n" +
         std::string(kBecause);
}

struct TwoPages {
  Scene scene;

  TwoPages() {
    scene.assets.write_text("contents.md", "# Test\n\n## 1 test: Test\n\n- choice\n- order\n");
    scene.assets.write_text("choice.md", choice_page());
    scene.assets.write_text("order.md", order_page());
  }
};

}  // namespace

TEST_CASE("a choice is made by mouse or key and locked, and a wrong one gets its reply", "[gui]") {
  TwoPages pages;
  pages.scene.stage.page = "choice";
  perform("choice", pages.scene.stage, [](Actor& actor) {
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(2);
    IM_CHECK(actor.question().hides());
    actor.ctx->KeyPress(ImGuiKey_2);
    actor.frames(2);
    IM_CHECK(actor.question().chosen() == 1u);
    actor.click("choice 1");
    IM_CHECK(actor.question().chosen() == 0u);
    actor.picture("choice, open");
    actor.click("lock");
    actor.frames(2);
    IM_CHECK(!actor.question().hides());
    IM_CHECK(actor.question().reply() == "Weights stay.");
    IM_CHECK(!actor.there("choice 1"));
  });
}

TEST_CASE("items are ordered by dragging and by keys", "[gui]") {
  TwoPages pages;
  pages.scene.stage.page = "order";
  perform("order", pages.scene.stage, [](Actor& actor) {
    using Order = std::vector<std::size_t>;
    IM_CHECK(actor.question().order() == Order({2, 1, 0}));  // alphabetical
    actor.ctx->ItemDragWithDelta("**/item 3", ImVec2(0, 200));
    actor.frames(2);
    IM_CHECK(actor.question().order() == Order({1, 0, 2}));
    actor.ctx->NavMoveTo("**/item 1");
    actor.ctx->KeyPress(ImGuiMod_Alt | ImGuiKey_UpArrow);
    actor.frames(2);
    IM_CHECK(actor.question().order() == Order({0, 1, 2}));
    actor.picture("order, open");
    actor.click("lock");
    actor.frames(2);
    IM_CHECK(actor.question().right());
  });
}

TEST_CASE("Continue walks the steps of a tour, and the figure follows", "[gui]") {
  TwoPages pages;
  pages.scene.stage.page = "choice";
  perform("tour", pages.scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    actor.click("more");
    actor.frames(2);
    IM_CHECK(actor.page().figures().view().zoomed());
    IM_CHECK(actor.page().figures().view().cursor().has_value());
    IM_CHECK(actor.app.view().state().lit == record::Category::kLogits);
    actor.picture("tour, first step");
    actor.click("continue");
    actor.frames(2);
    IM_CHECK_EQ(actor.app.view().state().step, 1);
    IM_CHECK(!actor.page().figures().view().zoomed());
    actor.picture("tour, second step");
    // A click on the figure among the words shows it at full size.
    IM_CHECK(actor.there("settings"));
    IM_CHECK_EQ(actor.page().figures().tab(), 0);
    actor.click("inset 1 1");
    actor.frames(2);
    IM_CHECK_EQ(actor.page().figures().tab(), 1);
    actor.click("back");
    actor.frames(2);
    IM_CHECK_EQ(actor.app.view().state().step, 0);
    actor.ctx->KeyPress(ImGuiKey_Space);
    actor.ctx->KeyPress(ImGuiKey_Space);
    actor.frames(2);
    IM_CHECK(actor.page().page().id == "order");
  });
}

TEST_CASE("after the last step comes the second question, and words about other settings are marked", "[gui]") {
  Scene scene;
  scene.stage.page = "static_bytes";
  perform("second question", scene.stage, [](Actor& actor) {
    IM_CHECK(!actor.there("check second"));
    actor.skip_question();
    IM_CHECK(!actor.there("check second"));
    actor.click("more");
    actor.frames(3);
    const auto has_text = [&](std::string_view words) {
      const std::vector<std::string> texts = actor.texts();
      return std::ranges::any_of(texts, [&](const std::string& each) { return each.find(words) != std::string::npos; });
    };
    IM_CHECK(actor.page().set_param("model", "llama-3-8b").ok());
    actor.click("continue");
    actor.frames(3);
    IM_CHECK(has_text("About Llama 3.2 1B"));
    actor.picture("scope");
    IM_CHECK(actor.page().set_param("model", "llama-3.2-1b").ok());
    actor.frames(3);
    IM_CHECK(!has_text("About Llama 3.2 1B"));
    IM_CHECK(!actor.there("check second"));
    actor.click("continue");
    actor.frames(3);
    IM_CHECK(actor.there("check second"));
    actor.picture("second question");
    IM_CHECK(actor.app.view().second_question().answer("18").ok());
    actor.frames(3);
    IM_CHECK(has_text("You said"));
    actor.picture("second answer");
    actor.click("another one");
    actor.frames(3);
    IM_CHECK_EQ(actor.app.view().second_question().attempt(), 1);
    IM_CHECK(actor.there("check second"));
  });
}
