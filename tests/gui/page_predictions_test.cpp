// A page's predictions: answer, verdict, and the closed form without them.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "app/page/page_model.h"
#include "demos/experiments/demo.h"
#include "demos/predict/gpu_extras.h"
#include "tests/gui/reader.h"
#include "tests/gui/scripted_backend.h"
#include "tests/gui/scripted_predictions.h"
#include "tests/gui/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/wait.h"
#include "tests/support/course.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

// Polls until the page has its answer.
void wait_for_prediction(PageModel& model, app::Predictions& service) {
  REQUIRE(tests::wait_until([&] { return !service.busy(); }));
  model.poll(0, service.poll());
}

}  // namespace

TEST_CASE("a prediction is asked for with the settings, and again when they change", "[window][page]") {
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  ScriptedBackend runner(small_run());
  PageModel model(
      page(), demo(),
      PageSources{
          .runner = &runner, .predictions = &predictions.service, .fixed_settings = "", .stored = {small_run()}});
  model.question().skip();
  model.show(PageModel::Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  CHECK(model.figure(400).head.empty_reason.empty());
  CHECK(lessons::axes_of(model.figure(400)).x.unit == lessons::AxisUnit::kEvents);  // a prediction has no times
  CHECK(model.set_param("batch", "8"));
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.predicted() != nullptr);
  CHECK(model.set_param("batch", "4"));  // the first answer is cached
  CHECK(model.predicted() != nullptr);
  predictions.planner.set_trouble("The planner cannot start.");
  CHECK(model.set_param("batch", "16"));
  wait_for_prediction(model, predictions.service);
  CHECK(model.why_no_prediction() == "The planner cannot start.");
  REQUIRE(model.on_show() != nullptr);  // the closed form replaces it, and says so
  CHECK(model.on_show()->recording->info().source == record::Source::kFormula);
  REQUIRE(model.notice());
  CHECK(model.notice()->body.find("The planner cannot start.") != std::string::npos);
  CHECK(runner.starts() == 0);
}

TEST_CASE("without an engine the closed form is what is predicted, and changes with the settings", "[window][page]") {
  PageModel model(page(), demo(), PageSources{.stored = {small_run()}});
  model.question().skip();
  CHECK(model.has_predictions());
  model.show(PageModel::Layer::kMeasured, false);
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
  REQUIRE(model.notice());
  CHECK(model.notice()->head == "The closed form, of a GPU");
  CHECK(model.notice()->body.find("no engine") != std::string::npos);
  // A later engine is asked at once.
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  model.use(nullptr, &predictions.service);
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.on_show() != nullptr);
  CHECK(model.on_show()->recording->info().source == record::Source::kPredicted);
  model.use(nullptr, nullptr);
}

TEST_CASE("without an engine the strip is the closed form's, at once, and nothing is run", "[window][page]") {
  const auto stored = small_run({.device = record::DeviceKind::kGpu});
  record::RunInfo info = stored->info();
  info.provenance["gpu"] = "NVIDIA H200";
  info.device_memory = 140 * record::kGiB;
  stored->set_info(info);
  PageModel model(page(), demo(), PageSources{.why_no_engine = "Name a program: /gone is none.", .stored = {stored}});
  model.figure(400);
  model.poll(0, false);
  CHECK(model.plan() == nullptr);  // it would answer the question
  model.question().skip();
  model.figure(400);
  model.poll(0, false);
  REQUIRE(model.plan() != nullptr);  // with the page's initial settings
  for (const char* batch : {"8", "16"}) {
    REQUIRE(model.set_param("batch", batch).ok());
    CHECK(model.figure(400).head.source == record::Source::kFormula);
    model.poll(0, false);
    REQUIRE(model.plan() != nullptr);
    CHECK(model.plan()->params == model.settings());
    CHECK(model.plan()->why_formula == "Name a program: /gone is none.");
    CHECK(model.plan()->cards.front().largest_batch);
    CHECK_FALSE(model.shown_ways().empty());
    CHECK(model.shown_ways().front()->change);
  }
  CHECK_FALSE(model.can_run());
  CHECK(model.why_no_trial() == "Name a program: /gone is none.");
}

TEST_CASE("a planner that dies while it answers is said, the closed form takes its place, and a fresh one answers",
          "[window][page]") {
  ScriptedBackend runner(small_run());
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  PageModel model(page(), demo(),
                  PageSources{.runner = &runner, .predictions = &predictions.service, .stored = {small_run()}});
  model.question().skip();
  model.show(PageModel::Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.predicted() != nullptr);
  const int before = predictions.planner.starts();
  predictions.planner.hold(true);  // delays the fresh one
  predictions.planner.lose_next("The engine was killed by SIGKILL.");
  REQUIRE(model.set_param("batch", "8").ok());
  REQUIRE(tests::wait_until([&] { return !predictions.service.trouble().empty(); }));
  model.poll(0, predictions.service.poll());
  CHECK(model.figure(400).head.source == record::Source::kFormula);
  CHECK(model.on_show()->recording->info().params.at("batch") == "8");
  REQUIRE(model.notice());
  CHECK(model.notice()->body.find("killed by SIGKILL") != std::string::npos);
  REQUIRE(model.set_param("batch", "16").ok());
  CHECK(model.on_show()->recording->info().params.at("batch") == "16");
  CHECK(model.figure(400).head.source == record::Source::kFormula);
  model.poll(0, false);
  REQUIRE(model.plan() != nullptr);  // with the machine's memory
  CHECK(model.plan()->params == model.settings());
  CHECK(model.plan()->why_formula.find("killed by SIGKILL") != std::string::npos);
  CHECK(model.why_no_engine().empty());  // runs use another process

  predictions.planner.hold(false);
  wait_for_prediction(model, predictions.service);
  model.poll(0, predictions.service.poll());
  CHECK(predictions.service.trouble().empty());
  CHECK(predictions.planner.starts() > before + 1);
  CHECK(model.figure(400).head.source == record::Source::kPredicted);
  CHECK_FALSE(model.notice());
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.plan() != nullptr);
  CHECK(model.plan()->why_formula.empty());
}

TEST_CASE("a page that had no answer asks again once the planner works", "[window][page]") {
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  PageModel model(page(), demo(), PageSources{.predictions = &predictions.service, .stored = {small_run()}});
  model.question().skip();
  model.show(PageModel::Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  predictions.planner.set_trouble("The planner cannot start.");
  REQUIRE(model.set_param("batch", "8").ok());
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.figure(400).head.source == record::Source::kFormula);
  predictions.planner.set_trouble(std::nullopt);
  record::Params other = model.settings();
  REQUIRE(other.set("batch", "2").ok());
  REQUIRE(*predictions.service.wait({"train_step", other}));  // for another page
  model.poll(0, predictions.service.poll());
  wait_for_prediction(model, predictions.service);
  CHECK(model.figure(400).head.source == record::Source::kPredicted);
}

TEST_CASE("a layer that cannot be switched says why, and layers agree with what is drawn", "[window][page]") {
  using Layer = PageModel::Layer;
  ScriptedBackend runner(small_run());
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  PageModel model(tests::page("will_it_fit"), demo(),
                  PageSources{.runner = &runner, .predictions = &predictions.service, .stored = {small_run()}});
  model.question().skip();
  model.figure(400);
  wait_for_prediction(model, predictions.service);
  model.figure(400);
  CHECK(model.why_fixed(Layer::kPredicted).empty());  // a line over the measurement
  CHECK(model.why_fixed(Layer::kMeasured).empty());
  REQUIRE(model.set_param("batch", "8").ok());
  wait_for_prediction(model, predictions.service);
  model.figure(400);
  CHECK(model.shows(Layer::kPredicted));
  CHECK_FALSE(model.offers(Layer::kMeasured));
  CHECK(model.why_fixed(Layer::kPredicted).find("no run with these settings") != std::string::npos);
  model.show(Layer::kPredicted, false);
  CHECK(model.shows(Layer::kPredicted));
  CHECK(model.why_fixed(Layer::kFormula).empty());
  // A closed-form figure has no layers.
  const auto at = std::ranges::find(model.page().figures, "fit_map") - model.page().figures.begin();
  model.show_tab(static_cast<int>(at));
  CHECK(model.figure(400).head.source == record::Source::kFormula);
  for (const Layer layer : {Layer::kFormula, Layer::kPredicted, Layer::kMeasured}) CHECK_FALSE(model.offers(layer));
  model.show_tab(0);
  // A missing prediction cannot be switched on.
  predictions.planner.set_trouble("The planner cannot start.");
  REQUIRE(model.set_param("batch", "16").ok());
  wait_for_prediction(model, predictions.service);
  CHECK(model.figure(400).head.source == record::Source::kFormula);
  CHECK(model.shows(Layer::kFormula));
  CHECK_FALSE(model.shows(Layer::kPredicted));
  CHECK_FALSE(model.why_fixed(Layer::kFormula).empty());
}

TEST_CASE("a predicted step is said to fit or not, with the largest batch", "[window][page]") {
  ScriptedBackend runner(small_run());
  const auto run = small_run({.source = record::Source::kPredicted, .device = record::DeviceKind::kGpu});
  tests::ScriptedPredictions predictions(run);
  PageModel model(
      page(), demo(),
      PageSources{
          .runner = &runner, .predictions = &predictions.service, .fixed_settings = "", .stored = {small_run()}});
  model.question().skip();
  REQUIRE(model.set_param("cap", "1GiB").ok());
  model.show(PageModel::Layer::kMeasured, false);
  for (int i = 0; i < 40 && !(model.plan() != nullptr && model.plan()->cards.front().largest_sequence); ++i)
    wait_for_prediction(model, predictions.service);
  REQUIRE(model.plan() != nullptr);
  const app::StepPlan& plan = *model.plan();
  CHECK(plan.requested == tests::peak_of({}) + predict::kBlasWorkspace);
  CHECK(plan.reserved >= plan.requested);
  CHECK(plan.cards.front().fit.verdict == predict::Verdict::kFits);
  CHECK(plan.cards.front().largest_batch == 256);  // this planner gives every batch the same answer
  REQUIRE(model.set_param("cap", "100MiB").ok());
  for (int i = 0; i < 40 && !(model.plan() != nullptr && model.plan()->params == model.settings()); ++i)
    wait_for_prediction(model, predictions.service);
  REQUIRE(model.plan() != nullptr);
  CHECK(model.plan()->cards.front().fit.verdict == predict::Verdict::kDoesNotFit);
}

TEST_CASE("after any walk through a page's figures the strip has its verdict", "[window][page]") {
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
      if (!model.has_verdict() || !model.card()) continue;
      INFO(model.shown_figure().id);
      REQUIRE(model.plan() != nullptr);
      CHECK(model.plan()->params == model.settings());
      CHECK(model.plan()->cards.front().largest_sequence);
      CHECK_FALSE(model.ways_out().empty());
    }
  }
}

TEST_CASE("pointing at a link draws what is predicted with its settings, and nothing while the question is open",
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
    model.preview(link);
    wait_for_prediction(model, predictions.service);
    model.preview(link);
  };
  point();
  CHECK_FALSE(model.previewed_peak());
  CHECK(predictions.planner.starts() == 0);
  model.question().skip();
  model.show(PageModel::Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  CHECK(predicted_lines() == 0);  // it is already on show
  point();
  CHECK(predicted_lines() == 1);
  CHECK(model.previewed_peak() == tests::peak_of({.weights = 60 * record::kMiB}));
  CHECK(model.settings().as_text("batch") == "4");
  model.preview({});
  CHECK(predicted_lines() == 0);
  const std::vector<lessons::Setting> gone{{"no_such", "8"}};
  model.preview(gone);
  CHECK_FALSE(model.previewed_peak());
}

TEST_CASE("a prediction that does not come at once is awaited, and one that does is not", "[window][page]") {
  tests::ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  PageModel model(page(), demo(), PageSources{.predictions = &predictions.service, .stored = {small_run()}});
  model.question().skip();
  model.show(PageModel::Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  CHECK_FALSE(model.awaits_prediction());
  predictions.planner.hold(true);
  REQUIRE(model.set_param("batch", "8").ok());
  model.poll(1.0, false);
  CHECK_FALSE(model.awaits_prediction());  // most answers arrive before one would notice
  model.poll(1.05, false);
  CHECK_FALSE(model.awaits_prediction());
  CHECK(model.poll(1.2, false));
  CHECK(model.awaits_prediction());
  predictions.planner.hold(false);
  wait_for_prediction(model, predictions.service);
  model.poll(2.0, false);
  CHECK_FALSE(model.awaits_prediction());
}

TEST_CASE("a GPU's prediction has the blocks and segments that the allocator makes of its requests", "[window][page]") {
  ScriptedBackend runner(small_run());
  tests::ScriptedPredictions predictions(small_run(
      {.weights = 40 * record::kMiB + 100, .source = record::Source::kPredicted, .device = record::DeviceKind::kGpu}));
  PageModel model(
      page(), demo(),
      PageSources{
          .runner = &runner, .predictions = &predictions.service, .fixed_settings = "", .stored = {small_run()}});
  model.question().skip();
  model.show(PageModel::Layer::kMeasured, false);
  wait_for_prediction(model, predictions.service);
  REQUIRE(model.on_show() != nullptr);
  const record::Ledger& ledger = *model.on_show()->ledger;
  CHECK(ledger.recording().info().source == record::Source::kPredicted);
  CHECK(ledger.peak_requested() < ledger.peak().totals.allocated);
  CHECK(ledger.peak().totals.allocated <= ledger.peak_reserved());
  CHECK(ledger.peak_reserved() % (2 * record::kMiB) == 0);
  CHECK_FALSE(ledger.recording().placements().empty());
}

TEST_CASE("two pages share the predictions, and each takes the answer to its own question", "[window][page]") {
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
  first->show(PageModel::Layer::kMeasured, false);
  second->show(PageModel::Layer::kMeasured, false);  // perhaps before the first answer
  wait_for_prediction(*first, predictions.service);
  wait_for_prediction(*second, predictions.service);
  CHECK(predictions.planner.starts() >= 2);  // and the search for the largest batch
  REQUIRE(first->on_show() != nullptr);
  REQUIRE(second->on_show() != nullptr);
  CHECK(first->on_show()->recording != second->on_show()->recording);
}
