// The window without an engine: it says why, offers only what works, and shows the closed form.
#include <algorithm>
#include <string>

#include "app/page/page_facts.h"
#include "app/page/words/page_words.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

bool says(const std::vector<std::string>& texts, std::string_view words) {
  return std::ranges::any_of(texts, [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

record::Bytes closed_form_peak(const app::page::PageModel& page) {
  return record::total(predict::closed_form(predict::step_settings(page.settings())).peak().bytes);
}

// The shipped page begins with a measured run of an H200.
void walk_without_engine(Actor& actor, const std::string& reason) {
  app::page::PageModel& page = actor.page();
  actor.click("skip");
  actor.frames(4);
  const auto texts = actor.texts();
  IM_CHECK(says(texts, "No engine"));
  IM_CHECK(says(texts, reason));
  IM_CHECK(says(texts, "No engine: stored runs and closed forms"));  // and not the stored run's H200
  for (const char* offer : {"run", "trace", "try"}) IM_CHECK(!actor.there(offer));
  IM_CHECK(!actor.there("layers/Predicted"));
  IM_CHECK(page.figure(400).head.source == record::Source::kRecorded);
  actor.click("layers/Formula");
  actor.frames(2);
  const auto& lines = timeline_of(page.figure(400)).lines;
  IM_CHECK_EQ(std::ranges::count(lines, lessons::LineStyle::kFormula, &lessons::StepLine::style), 1);
  actor.picture("no engine, measured");

  const std::size_t runs = page.runs().all().size();
  IM_CHECK(page.set_param("batch", "8").ok());
  IM_CHECK(page.figure(400).head.source == record::Source::kFormula);  // in the same frame
  IM_CHECK_EQ(page.on_show()->ledger->peak().totals.allocated, closed_form_peak(page));
  actor.frames(2);
  IM_CHECK(plan_of(page) != nullptr && plan_of(page)->params == page.settings());
  IM_CHECK_EQ(plan_of(page)->allocated, closed_form_peak(page));
  IM_CHECK(plan_of(page)->cards.front().largest_batch.has_value());
  IM_CHECK(plan_of(page)->why_formula.find(reason) != std::string::npos);
  IM_CHECK(notice_of(page).has_value() && notice_of(page)->body.find(reason) != std::string::npos);
  actor.frames(2);
  IM_CHECK_GE(std::ranges::count(actor.texts(), "Formula"), 2);
  actor.picture("no engine, closed form");
  actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_R);
  actor.frames(2);
  trace(page, 0);
  IM_CHECK(!actor.app.running());
  IM_CHECK_EQ(page.runs().all().size(), runs);
  IM_CHECK(!page.settings().on("trace"));
}

}  // namespace

TEST_CASE("the closed form follows the settings without an engine, and no useless control is offered", "[gui]") {
  for (const int width : {1280, 1600}) {
    Stage stage = shipped("checkpointing");
    stage.width = width;
    stage.height = width * 5 / 8;
    perform(width == 1280 ? "no engine" : "no engine, wide", stage,
            [](Actor& actor) { walk_without_engine(actor, "A test has no engine."); });
  }
}

TEST_CASE("an engine that dies at its start counts as no engine, and its last output is shown", "[gui]") {
  Stage stage = shipped("checkpointing");
  stage.width = 1600;
  stage.height = 1000;
  stage.engine = "sh -c 'echo no libtorch here >&2; exit 3'";
  perform("engine dies at start", stage, [](Actor& actor) {
    actor.wait_until([&] { return !why_no_engine(actor.page()).empty(); });
    IM_CHECK(why_no_engine(actor.page()).find("no libtorch here") != std::string::npos);
    walk_without_engine(actor, "The engine died 3 times");
  });
}

TEST_CASE("narrow pages and pages of other demos also say that there is no engine", "[gui]") {
  Stage stage = shipped("checkpointing");
  stage.width = 1000;
  stage.height = 640;
  perform("no engine, narrow", stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(3);
    IM_CHECK(says(actor.texts(), "A test has no engine."));
    IM_CHECK(!actor.there("act"));
    actor.picture("no engine, narrow");
    for (const char* id : {"many_launches", "ladder", "report", "edit_a_kernel", "schedule"}) {
      actor.app.go_to(*actor.app.course().find_page(id));
      actor.frames(4);
      if (actor.question().hides()) actor.question().skip();
      actor.frames(2);
      IM_CHECK_STR_EQ(actor.page().page().id.c_str(), id);
      IM_CHECK(says(actor.texts(), "A test has no"));  // the rest may wrap
      for (const char* offer : {"run", "act", "run sweep"}) IM_CHECK(!actor.there(offer));
      actor.picture("no engine, " + std::string(id));
    }
  });
}

TEST_CASE("stored runs are shown with their settings without an engine", "[gui]") {
  TestAssets assets;
  assets.add(*small_run(), "tiny_cpu");
  assets.add(*small_run({.weights = 80 * record::kMiB}), "llama-3.2-1b_h200_b4");
  Stage stage;
  stage.assets = assets.path();
  perform("stored runs only", stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(3);
    IM_CHECK_EQ(actor.page().runs().all().size(), 2u);
    // The run that Page::shows names.
    IM_CHECK_EQ(peak_in_figure(actor), static_cast<double>(peak_of({.weights = 80 * record::kMiB})));
    IM_CHECK(actor.there("batch/slider"));
    actor.click("runs");
    actor.frames(2);
    actor.picture("popup runs");
    actor.ctx->ItemClick("//$FOCUSED/$$1/run");
    actor.frames(3);
    IM_CHECK_EQ(actor.page().runs().shown(), 1);
    IM_CHECK_EQ(peak_in_figure(actor), static_cast<double>(peak_of({})));
  });
}
