// A page's predictions: answer, verdict, and the closed form without them.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "app/page/page_facts.h"
#include "app/page/page_model.h"
#include "app/page/words/page_words.h"
#include "demos/experiments/demo.h"
#include "demos/predict/cards/gpu_extras.h"
#include "tests/gui/support/reader.h"
#include "tests/gui/support/scripted_backend.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/panels.h"
#include "tests/support/wait.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

void wait_for_prediction(PageModel& model, app::Predictions& service) {
  REQUIRE(tests::wait_until([&] { return !service.busy(); }));
  model.poll(0, service.poll());
}

}  // namespace

TEST_CASE("a prediction is requested for the settings, and again when they change", "[window][page]") {
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  ScriptedBackend runner(small_run());
  PageModel model(
      page(), demo(),
      PageSources{
          .runner = &runner, .predictions = &predictions.service, .fixed_settings = "", .stored = {small_run()}});
  model.question().skip();
  model.show(Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  CHECK(model.figure(400).head.empty_reason.empty());
  CHECK(lessons::axes_of(model.figure(400)).x.unit == lessons::AxisUnit::kEvents);  // a prediction has no times
  CHECK(model.set_param("batch", "8"));
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.forecast().predicted(model.settings()) != nullptr);
  CHECK(model.set_param("batch", "4"));  // the first answer is cached
  CHECK(model.forecast().predicted(model.settings()) != nullptr);
  predictions.planner.set_trouble("The planner cannot start.");
  CHECK(model.set_param("batch", "16"));
  wait_for_prediction(model, predictions.service);
  CHECK(model.forecast().why_none() == "The planner cannot start.");
  REQUIRE(model.on_show() != nullptr);  // the closed form replaces the prediction, and says so
  CHECK(model.on_show()->recording->info().source == record::Source::kFormula);
  REQUIRE(notice_of(model));
  CHECK(notice_of(model)->body.find("The planner cannot start.") != std::string::npos);
  CHECK(runner.starts() == 0);
}

TEST_CASE("the closed form is the prediction without an engine, and changes with the settings", "[window][page]") {
  PageModel model(page(), demo(), PageSources{.stored = {small_run()}});
  model.question().skip();
  CHECK(has_predictions(model));
  model.show(Layer::kMeasured, false);
  REQUIRE(model.on_show() != nullptr);
  const auto peak = [&] { return model.on_show()->ledger->peak().totals.allocated; };
  const auto expected = [&] {
    return record::total(predict::closed_form(predict::step_settings(model.settings())).peak().bytes);
  };
  CHECK(peak() == expected());
  const record::Bytes before = peak();
  CHECK(model.figure(400).head.empty_reason.empty());
  CHECK(model.figure(400).head.source == record::Source::kFormula);
  CHECK(model.set_param("batch", "16"));
  CHECK(peak() == expected());
  CHECK(peak() > before);
  REQUIRE(notice_of(model));
  CHECK(notice_of(model)->head == "The closed form, for a GPU");
  CHECK(notice_of(model)->body.find("no engine") != std::string::npos);
  // A later engine is asked at once.
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  model.use(nullptr, &predictions.service);
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.on_show() != nullptr);
  CHECK(model.on_show()->recording->info().source == record::Source::kPredicted);
  model.use(nullptr, nullptr);
}

TEST_CASE("the strip shows the closed form at once without an engine, and nothing runs", "[window][page]") {
  const auto stored = small_run({.device = record::DeviceKind::kGpu});
  record::RunInfo info = stored->info();
  info.provenance["gpu"] = "NVIDIA H200";
  info.device_memory = 140 * record::kGiB;
  stored->set_info(info);
  PageModel model(page(), demo(),
                  PageSources{.why_no_engine = "Name a program: /gone is not executable.", .stored = {stored}});
  model.figure(400);
  model.poll(0, false);
  CHECK(plan_of(model) == nullptr);  // it would answer the question
  model.question().skip();
  model.figure(400);
  model.poll(0, false);
  REQUIRE(plan_of(model) != nullptr);
  for (const char* batch : {"8", "16"}) {
    REQUIRE(model.set_param("batch", batch).ok());
    CHECK(model.figure(400).head.source == record::Source::kFormula);
    model.poll(0, false);
    REQUIRE(plan_of(model) != nullptr);
    CHECK(plan_of(model)->params == model.settings());
    CHECK(plan_of(model)->why_formula == "Name a program: /gone is not executable.");
    CHECK(plan_of(model)->cards.front().largest_batch);
    CHECK_FALSE(model.verdict().shown_ways().empty());
    CHECK(model.verdict().shown_ways().front()->change);
  }
  CHECK_FALSE(can_run(model));
  CHECK(why_no_trial(model) == "Name a program: /gone is not executable.");
}

TEST_CASE("a planner that dies while answering is reported, the closed form replaces it, and a new one answers",
          "[window][page]") {
  ScriptedBackend runner(small_run());
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  PageModel model(page(), demo(),
                  PageSources{.runner = &runner, .predictions = &predictions.service, .stored = {small_run()}});
  model.question().skip();
  model.show(Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.forecast().predicted(model.settings()) != nullptr);
  const int before = predictions.planner.starts();
  predictions.planner.hold(true);  // delays the new planner's answer
  predictions.planner.lose_next("The engine was killed by SIGKILL.");
  REQUIRE(model.set_param("batch", "8").ok());
  REQUIRE(tests::wait_until([&] { return !predictions.service.trouble().empty(); }));
  model.poll(0, predictions.service.poll());
  CHECK(model.figure(400).head.source == record::Source::kFormula);
  CHECK(model.on_show()->recording->info().params.at("batch") == "8");
  REQUIRE(notice_of(model));
  CHECK(notice_of(model)->body.find("killed by SIGKILL") != std::string::npos);
  REQUIRE(model.set_param("batch", "16").ok());
  CHECK(model.on_show()->recording->info().params.at("batch") == "16");
  CHECK(model.figure(400).head.source == record::Source::kFormula);
  model.poll(0, false);
  REQUIRE(plan_of(model) != nullptr);  // with the machine's memory
  CHECK(plan_of(model)->params == model.settings());
  CHECK(plan_of(model)->why_formula.find("killed by SIGKILL") != std::string::npos);
  CHECK(why_no_engine(model).empty());  // runs use another process

  predictions.planner.hold(false);
  wait_for_prediction(model, predictions.service);
  model.poll(0, predictions.service.poll());
  CHECK(predictions.service.trouble().empty());
  CHECK(predictions.planner.starts() > before + 1);
  CHECK(model.figure(400).head.source == record::Source::kPredicted);
  CHECK_FALSE(notice_of(model));
  wait_for_prediction(model, predictions.service);
  REQUIRE(plan_of(model) != nullptr);
  CHECK(plan_of(model)->why_formula.empty());
}

TEST_CASE("a page without an answer asks again once the planner works", "[window][page]") {
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  PageModel model(page(), demo(), PageSources{.predictions = &predictions.service, .stored = {small_run()}});
  model.question().skip();
  model.show(Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  predictions.planner.set_trouble("The planner cannot start.");
  REQUIRE(model.set_param("batch", "8").ok());
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.figure(400).head.source == record::Source::kFormula);
  predictions.planner.set_trouble(std::nullopt);
  record::Params other = model.settings();
  REQUIRE(other.set("batch", "2").ok());
  REQUIRE(*predictions.service.wait({"train_step", other}));  // asked by another page
  model.poll(0, predictions.service.poll());
  wait_for_prediction(model, predictions.service);
  CHECK(model.figure(400).head.source == record::Source::kPredicted);
}

TEST_CASE("a fixed layer says why, and layers agree with the picture", "[window][page]") {
  using Layer = Layer;
  ScriptedBackend runner(small_run());
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  PageModel model(tests::page("will_it_fit"), demo(),
                  PageSources{.runner = &runner, .predictions = &predictions.service, .stored = {small_run()}});
  model.question().skip();
  model.figure(400);
  wait_for_prediction(model, predictions.service);
  model.figure(400);
  CHECK(model.layer(Layer::kPredicted).why_fixed.empty());  // the prediction is a line over the measurement
  CHECK(model.layer(Layer::kMeasured).why_fixed.empty());
  REQUIRE(model.set_param("batch", "8").ok());
  wait_for_prediction(model, predictions.service);
  model.figure(400);
  CHECK(model.layer(Layer::kPredicted).shown);
  CHECK_FALSE(model.layer(Layer::kMeasured).offered);
  CHECK(model.layer(Layer::kPredicted).why_fixed.find("no run with these settings") != std::string::npos);
  model.show(Layer::kPredicted, false);
  CHECK(model.layer(Layer::kPredicted).shown);
  CHECK(model.layer(Layer::kFormula).why_fixed.empty());
  // A closed-form figure has no layers.
  const auto at = std::ranges::find(model.page().figures, "fit_map") - model.page().figures.begin();
  model.show_tab(static_cast<int>(at));
  CHECK(model.figure(400).head.source == record::Source::kFormula);
  for (const Layer layer : {Layer::kFormula, Layer::kPredicted, Layer::kMeasured})
    CHECK_FALSE(model.layer(layer).offered);
  model.show_tab(0);
  predictions.planner.set_trouble("The planner cannot start.");
  REQUIRE(model.set_param("batch", "16").ok());
  wait_for_prediction(model, predictions.service);
  CHECK(model.figure(400).head.source == record::Source::kFormula);
  CHECK(model.layer(Layer::kFormula).shown);
  CHECK_FALSE(model.layer(Layer::kPredicted).shown);
  CHECK_FALSE(model.layer(Layer::kFormula).why_fixed.empty());
}

TEST_CASE("a predicted step has a verdict and a largest batch", "[window][page]") {
  ScriptedBackend runner(small_run());
  const auto run = small_run({.source = record::Source::kPredicted, .device = record::DeviceKind::kGpu});
  tests::ScriptedPredictions predictions(run);
  PageModel model(
      page(), demo(),
      PageSources{
          .runner = &runner, .predictions = &predictions.service, .fixed_settings = "", .stored = {small_run()}});
  model.question().skip();
  REQUIRE(model.set_param("cap", "1GiB").ok());
  model.show(Layer::kMeasured, false);
  for (int i = 0; i < 40 && !(plan_of(model) != nullptr && plan_of(model)->cards.front().largest_sequence); ++i)
    wait_for_prediction(model, predictions.service);
  REQUIRE(plan_of(model) != nullptr);
  const app::StepPlan& plan = *plan_of(model);
  CHECK(plan.requested == tests::peak_of({}) + predict::kBlasWorkspace);
  CHECK(plan.reserved >= plan.requested);
  CHECK(plan.cards.front().fit.verdict == predict::Verdict::kFits);
  CHECK(plan.cards.front().largest_batch == 256);  // this planner gives every batch the same answer
  REQUIRE(model.set_param("cap", "100MiB").ok());
  for (int i = 0; i < 40 && !(plan_of(model) != nullptr && plan_of(model)->params == model.settings()); ++i)
    wait_for_prediction(model, predictions.service);
  REQUIRE(plan_of(model) != nullptr);
  CHECK(plan_of(model)->cards.front().fit.verdict == predict::Verdict::kDoesNotFit);
}

TEST_CASE("the strip has its verdict after any walk through a page's figures", "[window][page]") {
  std::mt19937 random(31);
  const auto drawn = [&](std::size_t below) { return static_cast<int>(random() % below); };
  for (const lessons::Page* const each : tests::course().pages()) {
    if (each->demo != demo().id) continue;
    INFO(each->id);
    ScriptedBackend runner(small_run());
    tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
    PageModel model(
        *each, demo(),
        PageSources{
            .runner = &runner, .predictions = &predictions.service, .fixed_settings = "", .stored = {small_run()}});
    model.question().skip();
    for (int step = 0; step < 12; ++step) {
      model.show_tab(drawn(each->figures.size()));
      if (drawn(4) == 0)
        (void)model.set_param("batch", std::array{"2", "4", "8"}.at(static_cast<std::size_t>(drawn(3))));
      // Sometimes leaves the figure before the answer.
      for (int i = drawn(2) == 0 ? 0 : 40; i > 0; --i) {
        model.figure(200);
        wait_for_prediction(model, predictions.service);
      }
    }
    for (int tab = 0; tab < static_cast<int>(each->figures.size()); ++tab) {
      model.show_tab(tab);
      for (int i = 0; i < 40; ++i) {
        model.figure(200);
        wait_for_prediction(model, predictions.service);
      }
      if (!has_verdict(model) || !card_of(model)) continue;
      INFO(model.figures().shown().id);
      REQUIRE(plan_of(model) != nullptr);
      CHECK(plan_of(model)->params == model.settings());
      CHECK(plan_of(model)->cards.front().largest_sequence);
      CHECK_FALSE(model.verdict().ways().empty());
    }
  }
}

TEST_CASE("pointing at a link draws the prediction for its settings, except while the question is open",
          "[window][page]") {
  tests::ScriptedPredictions predictions(
      small_run({.weights = 60 * record::kMiB, .source = record::Source::kPredicted}));
  ScriptedBackend runner(small_run());
  PageModel model(
      page(), demo(),
      PageSources{
          .runner = &runner, .predictions = &predictions.service, .fixed_settings = "", .stored = {small_run()}});
  const auto predicted_lines = [&] {
    const auto& lines = tests::timeline_of(model.figure(400)).lines;
    return std::ranges::count(lines, lessons::LineStyle::kPredicted, &lessons::StepLine::style);
  };
  const std::vector<lessons::Setting> link{{"batch", "8"}};
  const auto point = [&] {
    preview(model, with_changes(model, link));
    wait_for_prediction(model, predictions.service);
    preview(model, with_changes(model, link));
  };
  point();
  CHECK_FALSE(model.forecast().previewed_peak());
  CHECK(predictions.planner.starts() == 0);
  model.question().skip();
  model.show(Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  CHECK(predicted_lines() == 0);  // the prediction is already on show
  point();
  CHECK(predicted_lines() == 1);
  CHECK(model.forecast().previewed_peak() == tests::peak_of({.weights = 60 * record::kMiB}));
  CHECK(model.settings().as_text("batch") == "4");
  preview(model, {});
  CHECK(predicted_lines() == 0);
  const std::vector<lessons::Setting> gone{{"no_such", "8"}};
  preview(model, with_changes(model, gone));
  CHECK_FALSE(model.forecast().previewed_peak());
}

TEST_CASE("a late prediction is marked as awaited, and an immediate one is not", "[window][page]") {
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  PageModel model(page(), demo(), PageSources{.predictions = &predictions.service, .stored = {small_run()}});
  model.question().skip();
  model.show(Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  CHECK_FALSE(awaits_prediction(model));
  predictions.planner.hold(true);
  REQUIRE(model.set_param("batch", "8").ok());
  model.poll(1.0, false);
  CHECK_FALSE(awaits_prediction(model));  // most answers arrive before a reader would notice
  model.poll(1.05, false);
  CHECK_FALSE(awaits_prediction(model));
  CHECK(model.poll(1.2, false));
  CHECK(awaits_prediction(model));
  predictions.planner.hold(false);
  wait_for_prediction(model, predictions.service);
  model.poll(2.0, false);
  CHECK_FALSE(awaits_prediction(model));
}

TEST_CASE("a GPU's prediction has the allocator's blocks and segments", "[window][page]") {
  ScriptedBackend runner(small_run());
  tests::ScriptedPredictions predictions(small_run(
      {.weights = 40 * record::kMiB + 100, .source = record::Source::kPredicted, .device = record::DeviceKind::kGpu}));
  PageModel model(
      page(), demo(),
      PageSources{
          .runner = &runner, .predictions = &predictions.service, .fixed_settings = "", .stored = {small_run()}});
  model.question().skip();
  model.show(Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.on_show() != nullptr);
  const record::Ledger& ledger = *model.on_show()->ledger;
  CHECK(ledger.recording().info().source == record::Source::kPredicted);
  CHECK(ledger.peak_requested() < ledger.peak().totals.allocated);
  CHECK(ledger.peak().totals.allocated <= ledger.peak_reserved());
  CHECK(ledger.peak_reserved() % (2 * record::kMiB) == 0);
  CHECK_FALSE(ledger.recording().placements().empty());
}

TEST_CASE("two pages share the predictions, and each gets the answer to its own question", "[window][page]") {
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  const auto open = [&] {
    auto model = std::make_unique<PageModel>(
        page(), demo(),
        PageSources{
            .runner = nullptr, .predictions = &predictions.service, .fixed_settings = "", .stored = {small_run()}});
    model->question().skip();
    return model;
  };
  const auto first = open(), second = open();
  REQUIRE(second->set_param("batch", "8").ok());
  first->show(Layer::kMeasured, false);
  second->show(Layer::kMeasured, false);  // perhaps before the first answer
  wait_for_prediction(*first, predictions.service);
  wait_for_prediction(*second, predictions.service);
  CHECK(predictions.planner.starts() >= 2);  // and the search for the largest batch
  REQUIRE(first->on_show() != nullptr);
  REQUIRE(second->on_show() != nullptr);
  CHECK(first->on_show()->recording != second->on_show()->recording);
}
