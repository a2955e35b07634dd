// Several pages: navigation, one shared engine, and run A next to run B.
#include <string>

#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

std::size_t events_of(const Actor& actor) { return actor.page().runs().all().back().recording->events().size(); }

}  // namespace

TEST_CASE("Space, PgUp and Back turn the pages, and the course has ends", "[gui]") {
  Scene scene;
  perform("turn pages", scene.stage, [](Actor& actor) {
    const auto pages = actor.app.course().pages();
    IM_CHECK_GT(pages.size(), 2u);
    IM_CHECK(!actor.there("back"));
    actor.skip_question();
    for (int i = 0; i < 30 && &actor.page().page() == pages[0]; ++i) {
      actor.ctx->KeyPress(ImGuiKey_Space);
      actor.frames(3);
    }
    IM_CHECK(&actor.page().page() == pages[1]);
    actor.skip_question();
    for (int i = 0; i < 30 && &actor.page().page() == pages[1]; ++i) {
      actor.ctx->KeyPress(ImGuiKey_PageUp);
      actor.frames(3);
    }
    IM_CHECK(&actor.page().page() == pages[0]);
    actor.jump(pages.back()->id);
    actor.skip_question();
    IM_CHECK(!actor.there("continue"));
    actor.click("back");
    actor.frames(3);
    IM_CHECK(&actor.page().page() == pages[pages.size() - 2]);
  });
}

TEST_CASE("Space does not turn a page whose question is open", "[gui]") {
  Scene scene;
  perform("question holds", scene.stage, [](Actor& actor) {
    IM_CHECK(actor.question().hides());
    IM_CHECK(!actor.there("continue"));
    for (int i = 0; i < 10; ++i) {
      actor.ctx->KeyPress(ImGuiKey_Space);
      actor.frames(2);
    }
    IM_CHECK(&actor.page().page() == actor.app.course().pages().front());
  });
}

TEST_CASE("the rail of a small window opens every chapter", "[gui]") {
  Scene scene;
  perform("rail compact", scene.stage, [](Actor& actor) {
    const auto& chapters = actor.app.course().chapters();
    for (std::size_t c = chapters.size(); c-- > 0;) {
      const std::string chapter = "**/rail/$$" + std::to_string(c) + "/";
      if (&actor.page().page() != chapters[c].pages.front()) actor.ctx->ItemClick((chapter + "chapter").c_str());
      actor.frames(3);
      IM_CHECK(&actor.page().page() == chapters[c].pages.front());
    }
  });
}

TEST_CASE("two pages share one engine, and each keeps its own run", "[gui]") {
  Scene scene;
  scene.stage.page = "where_memory_goes";  // this page and the next have Run
  perform("two pages", scene.stage, [&](Actor& actor) {
    actor.skip_question();
    actor.click("run");
    actor.wait_for_end_of_run();
    const auto first = actor.page().runs().all().back().recording;
    IM_CHECK_EQ(first->events().size(), actor.page().runs().all().back().ledger->size());
    actor.click("continue");
    actor.frames(3);
    actor.skip_question();
    const std::size_t stored = actor.page().runs().all().size();
    actor.click("run");
    actor.frames(4);
    IM_CHECK_EQ(scene.backend.starts(), 2);
    IM_CHECK_EQ(actor.page().runs().all().size(), stored + 1);
    const auto second = actor.page().runs().all().back().recording;
    IM_CHECK(second != first);
    const std::size_t early = actor.page().runs().all().back().ledger->size();
    IM_CHECK_GT(early, 0u);
    actor.frames(4);
    IM_CHECK_GT(actor.page().runs().all().back().ledger->size(), early);

    scene.backend.hold(true);
    actor.click("back");
    actor.frames(3);
    IM_CHECK(actor.app.running());
    IM_CHECK(!actor.page().control().running());  // another page is running
    IM_CHECK(!actor.page().control().can_run());
    IM_CHECK(!actor.there("cancel"));
    IM_CHECK(actor.page().runs().all().back().recording == first);
    actor.picture("another page's run is on");
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_R);
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(2);
    IM_CHECK_EQ(scene.backend.starts(), 2);
    IM_CHECK_EQ(scene.backend.cancels(), 0);
    scene.backend.hold(false);
    actor.wait_for_end_of_run();
    IM_CHECK(actor.page().runs().all().back().recording == first);
    IM_CHECK(actor.page().control().can_run());
    actor.click("continue");
    actor.frames(3);
    IM_CHECK(actor.page().runs().all().back().recording == second);
    IM_CHECK_EQ(actor.page().runs().all().back().ledger->size(), events_of(actor));
    IM_CHECK(actor.page().control().outcome().has_value());
  });
}

TEST_CASE("a run is no longer labeled live once it has ended", "[gui]") {
  Scene scene;
  perform("badge", scene.stage, [&](Actor& actor) {
    actor.skip_question();
    actor.click("run");
    actor.frames(4);
    IM_CHECK(actor.page().figure(400).head.source == record::Source::kLive);
    actor.wait_for_end_of_run();
    IM_CHECK(actor.page().figure(400).head.source == record::Source::kRecorded);
  });
}

TEST_CASE("a run pinned as A stays behind later runs until it is unpinned", "[gui]") {
  for (const int width : {1280, 1920}) {
    Scene scene;
    scene.stage.width = width;
    scene.stage.height = width * 9 / 16;
    perform(width == 1280 ? "pin compact" : "pin wide", scene.stage, [&](Actor& actor) {
      IM_CHECK(!actor.there("pin"));  // it would reveal the answer
      actor.ctx->KeyPress(ImGuiKey_C);
      IM_CHECK(actor.page().run_a().pinned() == nullptr);
      actor.skip_question();
      actor.click("pin");
      actor.frames(2);
      IM_CHECK(actor.page().run_a().pinned() != nullptr);
      IM_CHECK(!tests::timeline_of(actor.page().figure(400)).baseline_peak);  // A is not next to itself
      IM_CHECK(actor.page().run_a().comparison().rows.empty());
      actor.click("run");
      actor.wait_for_end_of_run();
      actor.frames(2);
      const auto& baseline = tests::timeline_of(actor.page().figure(400)).baseline_peak;
      IM_CHECK(baseline.has_value());
      IM_CHECK_EQ(baseline->y, static_cast<double>(peak_of({})));
      const auto& rows = actor.page().run_a().comparison().rows;
      IM_CHECK(!rows.empty());
      IM_CHECK_STR_EQ(rows.front().change.c_str(), "+120.00 MiB");
      actor.picture(width == 1280 ? "run A compact" : "run A wide");
      actor.ctx->KeyPress(ImGuiKey_C);
      actor.frames(2);
      IM_CHECK(actor.page().run_a().pinned() == nullptr);
      IM_CHECK(!tests::timeline_of(actor.page().figure(400)).baseline_peak);
      actor.ctx->KeyPress(ImGuiKey_C);  // pins the run just made
      actor.click("run");               // replaces that run on the page, but not as A
      actor.wait_for_end_of_run();
      actor.frames(2);
      IM_CHECK(tests::timeline_of(actor.page().figure(400)).baseline_peak.has_value());
      IM_CHECK_EQ(tests::timeline_of(actor.page().figure(400)).baseline_peak->y,
                  static_cast<double>(peak_of({.weights = 80 * record::kMiB})));
      IM_CHECK_STR_EQ(actor.page().run_a().comparison().rows.front().change.c_str(), "the same");
    });
  }
}

TEST_CASE("a comparison with a run that ended early has numbers but no difference", "[gui]") {
  for (const int width : {1280, 1920}) {
    Scene scene;
    scene.backend.use(small_run({.steps = 3, .out_of_memory = true}));
    scene.stage.width = width;
    scene.stage.height = width * 9 / 16;
    perform(width == 1280 ? "early end compact" : "early end wide", scene.stage, [](Actor& actor) {
      actor.skip_question();
      actor.click("pin");
      actor.click("run");
      actor.wait_for_end_of_run();
      actor.frames(2);
      const app::page::Comparison& comparison = actor.page().run_a().comparison();
      IM_CHECK_STR_EQ(comparison.early_end.c_str(), "B: out of memory");
      IM_CHECK(!comparison.rows.empty());
      IM_CHECK(comparison.rows.front().change.empty());
    });
  }
}
