// Prediction, measurement and closed form as layers of one figure, and the verdict.
#include <algorithm>

#include "app/page/page_facts.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;

TEST_CASE("a predicted step has a verdict, and the old picture is hatched while an answer is late", "[gui]") {
  Scene scene;
  ScriptedPredictions predictions(
      small_run({.source = record::Source::kPredicted, .device = record::DeviceKind::kGpu}));
  scene.stage.predictions = &predictions.service;
  perform("verdict", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    IM_CHECK(actor.page().set_param("cap", "1GiB").ok());
    actor.ctx->ItemClick("**/layers/Measured");
    const auto complete = [&] {
      const app::StepPlan* const plan = plan_of(actor.page());
      return plan != nullptr && plan->cards.front().largest_sequence;
    };
    actor.wait_until([&] { return complete(); });
    actor.frames(3);
    IM_CHECK(complete());
    IM_CHECK(plan_of(actor.page())->cards.front().fit.verdict == predict::Verdict::kFits);
    actor.picture("verdict fits");
    actor.frames(1);
    predictions.planner.hold(true);
    IM_CHECK(actor.page().set_param("batch", "8").ok());
    actor.wait_until([&] { return awaits_prediction(actor.page()); });
    IM_CHECK(awaits_prediction(actor.page()));
    actor.frames(2);
    actor.picture("prediction awaited");
    actor.frames(1);
    predictions.planner.hold(false);
    actor.wait_until([&] { return !awaits_prediction(actor.page()); });
    IM_CHECK(!awaits_prediction(actor.page()));
  });
}

TEST_CASE("without an engine the closed form is shown as a prediction", "[gui]") {
  Scene scene;
  scene.stage.predictions = nullptr;
  perform("closed form", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    IM_CHECK(!actor.there("layers/Predicted"));
    const auto formula_lines = [&] {
      const auto& lines = tests::timeline_of(actor.page().figure(400)).lines;
      return std::ranges::count(lines, lessons::LineStyle::kFormula, &lessons::StepLine::style);
    };
    IM_CHECK(formula_lines() == 0);
    actor.ctx->ItemClick("**/layers/Formula");
    actor.frames(4);
    IM_CHECK(actor.page().figure(400).head.source == record::Source::kRecorded);
    IM_CHECK(formula_lines() == 1);
    actor.ctx->ItemClick("**/layers/Measured");
    actor.frames(4);
    IM_CHECK(actor.page().figure(400).head.source == record::Source::kFormula);
    IM_CHECK(actor.page().figure(400).head.empty_reason.empty());
    IM_CHECK(formula_lines() == 0);             // the formula is already on show
    actor.ctx->ItemClick("**/layers/Formula");  // nothing would remain, so Measured returns
    actor.frames(2);
    IM_CHECK(actor.page().figure(400).head.source == record::Source::kRecorded);
  });
}

TEST_CASE("prediction and measurement are layers of one figure", "[gui]") {
  Scene scene;
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  scene.stage.predictions = &predictions.service;
  perform("predicted", scene.stage, [&](Actor& actor) {
    const auto predicted_lines = [&] {
      const auto& lines = tests::timeline_of(actor.page().figure(400)).lines;
      return std::ranges::count(lines, lessons::LineStyle::kPredicted, &lessons::StepLine::style);
    };
    actor.click("skip");
    actor.frames(2);
    actor.wait_until([&] { return actor.page().forecast().predicted(actor.page().settings()) != nullptr; });
    actor.frames(2);
    IM_CHECK(predicted_lines() == 1);
    actor.ctx->ItemClick("**/layers/Predicted");
    actor.frames(2);
    IM_CHECK(predicted_lines() == 0);
    IM_CHECK(!actor.page().shows_prediction());
    actor.ctx->ItemClick("**/layers/Measured");
    actor.frames(3);
    IM_CHECK(actor.page().shows_prediction());
    IM_CHECK(actor.page().figure(400).head.source == record::Source::kPredicted);
    IM_CHECK(actor.page().set_param("batch", "8").ok());  // no run has this batch
    actor.wait_until([&] { return !actor.app.awaits_prediction(); });
    actor.frames(3);
    IM_CHECK(!actor.there("layers/Measured"));
    IM_CHECK(actor.page().set_param("batch", "4").ok());
    actor.wait_until([&] { return !actor.app.awaits_prediction(); });
    actor.frames(3);
    actor.ctx->ItemClick("**/layers/Measured");
    actor.frames(2);
    IM_CHECK(!actor.page().shows_prediction());
    IM_CHECK(predicted_lines() == 1);
  });
}
