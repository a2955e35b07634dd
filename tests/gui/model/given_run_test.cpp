// A page opened for a reader's run: evidence, the run's settings, no question.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "app/common/assets.h"
#include "app/page/page_facts.h"
#include "app/page/page_model.h"
#include "tests/gui/support/reader.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/made_sweep.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

std::shared_ptr<const record::Recording> own_run() {
  const auto run = small_run();
  record::RunInfo info = run->info();
  info.params["batch"] = "8";
  info.params["checkpointing"] = "layer";
  run->set_info(info);
  return run;
}

}  // namespace

TEST_CASE("a given run is shown completely, with its settings, without a question or a guess", "[window][page]") {
  ScriptedBackend runner(small_run());
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  PageModel model(page(), demo(),
                  PageSources{.runner = &runner, .predictions = &predictions.service, .given = own_run()});
  CHECK(model.runs().is_given());
  CHECK(model.question().state() == Question::State::kNone);
  CHECK(model.settings().as_text("batch") == "8");
  CHECK(model.settings().as_text("checkpointing") == "layer");
  CHECK(shows_evidence(model));
  CHECK_FALSE(left_the_begin(model));
  for (int i = 0; i < 200 && !(plan_of(model) != nullptr && plan_of(model)->cards.front().largest_batch); ++i) {
    model.figure(400);
    for (int wait = 0; wait < 2000 && predictions.service.busy(); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    model.poll(0, predictions.service.poll());
  }
  const lessons::FigureData& figure = model.figure(400);
  const lessons::Timeline& timeline = tests::timeline_of(figure);
  CHECK_FALSE(timeline.hidden_from);
  CHECK_FALSE(figure.head.guess);
  CHECK_FALSE(figure.head.guess_open);
  CHECK(std::ranges::count(timeline.lines, lessons::LineStyle::kPredicted, &lessons::StepLine::style) == 1);
  REQUIRE(plan_of(model) != nullptr);
  CHECK(plan_of(model)->params == model.settings());
  CHECK(measured_peak(model) == peak_of({}));
  CHECK(can_run(model));
  REQUIRE(model.set_param("batch", "2").ok());
  CHECK_FALSE(shows_evidence(model));
}

TEST_CASE("earlier answers on a page do not affect a given run", "[window][page]") {
  PageModel model(page(), demo(), PageSources{.why_no_engine = "A test has no engine.", .given = own_run()});
  (void)model.recall("said 21797798625", {});
  CHECK(model.question().state() == Question::State::kNone);
  CHECK_FALSE(model.figure(400).head.guess);
}

TEST_CASE("a recording opens on the first page that shows such runs", "[window][page]") {
  const auto page_of = [](const record::Recording& recording) {
    const lessons::Page* const page = page_of_run(tests::course(), recording);
    return page == nullptr ? std::string() : page->id;
  };
  CHECK(page_of(*small_run()) == "bench");
  CHECK(page_of(tests::made_ladder()) == "ladder");
  const lessons::Page* const sweep = page_of_run(tests::course(), tests::made_batch_sweep(1));
  REQUIRE(sweep != nullptr);
  CHECK_FALSE(sweep->sweep.empty());
  for (const auto& [name, demo] : {std::pair{"block_cpu", "block"}}) {
    record::RunInfo info;
    info.demo = demo;
    const lessons::Page* const page = page_of_run(tests::course(), record::Recording(info));
    INFO(name);
    REQUIRE(page != nullptr);
    CHECK(page->demo == demo);
  }
  record::RunInfo unknown;
  unknown.demo = "no_such";
  CHECK(page_of(record::Recording(unknown)).empty());
}
