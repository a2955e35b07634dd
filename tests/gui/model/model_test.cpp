// The page without drawing: runs, and measurements in its figure.
#include <memory>

#include "app/page/page_facts.h"
#include "app/page/page_model.h"
#include "app/page/words/page_words.h"
#include "demos/experiments/demo.h"
#include "tests/gui/support/reader.h"
#include "tests/gui/support/scripted_backend.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

TEST_CASE("the stored run is shown at once, half of it hidden", "[window][page]") {
  Reader reader;
  const lessons::FigureData& figure = reader.model.figure(400);
  CHECK(figure.head.empty_reason.empty());
  REQUIRE(tests::timeline_of(figure).hidden_from);
  CHECK_FALSE(tests::timeline_of(figure).peak);
  CHECK(figure.head.guess_open);
  CHECK_FALSE(figure.head.guess);  // the marker begins at the low end
  reader.model.question().skip();
  const lessons::FigureData& whole = reader.model.figure(400);
  CHECK_FALSE(tests::timeline_of(whole).hidden_from);
  REQUIRE(tests::timeline_of(whole).peak);
  CHECK(tests::timeline_of(whole).peak->y == Approx(static_cast<double>(tests::peak_of({}))));
}

TEST_CASE("an answer is compared with the run that is shown", "[window][page]") {
  Reader reader;
  reader.model.figure(400);
  reader.model.question().set_guess(110 * kMiB);
  reader.model.question().lock();
  reader.poll();
  REQUIRE(reader.model.question().reveal());
  CHECK(reader.model.question().reveal()->is == Approx(static_cast<double>(tests::peak_of({}))));
  CHECK(reader.model.figure(400).head.guess == 110 * kMiB);
  CHECK_FALSE(reader.model.figure(400).head.guess_open);
}

TEST_CASE("a guess does not change, before or after the lock, whatever runs", "[window][page]") {
  Reader reader;
  reader.model.figure(400);
  const auto run = [&](const char* batch) {
    REQUIRE(reader.model.set_param("batch", batch));
    reader.model.run(reader.now);
    reader.finish_run();
    reader.model.figure(400);
  };
  run("16");
  CHECK_FALSE(reader.model.question().guess());
  reader.model.question().set_guess(110 * kMiB);
  run("32");
  CHECK(reader.model.question().guess() == 110 * kMiB);
  reader.model.question().lock();
  reader.poll();
  REQUIRE(reader.model.question().reveal());
  const double is = reader.model.question().reveal()->is;
  reader.backend.use(small_run({.weights = 20 * record::kMiB}));
  run("8");
  CHECK(reader.model.question().reveal()->said == 110 * kMiB);
  CHECK(reader.model.question().reveal()->is == is);
}

TEST_CASE("the axis does not depend on the answer before a guess, and grows with the guess", "[window][page]") {
  const auto top = [](PageModel& model) { return lessons::guess_axis(model.figure(400))->high; };
  Reader reader, other;
  other.model.take_sweep(small_run({.logits = 300 * record::kMiB}), true);  // its peak is after the forward pass
  const double before = top(reader.model);
  CHECK(top(other.model) == before);
  reader.model.question().set_guess(before / 2);
  CHECK(top(reader.model) == before);
  REQUIRE(reader.model.question().set_guess_text("3 GiB", "MiB", kMiB));
  CHECK(top(reader.model) == 3072 * kMiB);
  reader.model.question().set_guess(before / 2);
  CHECK(top(reader.model) == 3072 * kMiB);  // stable during a drag
  reader.model.question().set_guess(1e30);  // limited to the marker's range
  CHECK(top(reader.model) == lessons::number_of(&*page().question)->high);
  reader.model.question().set_guess(110 * kMiB);
  reader.model.question().lock();
  reader.poll();
  CHECK(top(reader.model) < 1024 * kMiB);
}

TEST_CASE("a run is recorded while the question is open, and stays hidden", "[window][page]") {
  Reader reader;
  reader.model.figure(400);
  reader.model.run(0);
  reader.finish_run();
  CHECK(reader.backend.starts() == 1);
  CHECK(tests::timeline_of(reader.model.figure(400)).hidden_from.has_value());
  CHECK_FALSE(reader.model.question().reveal());
  reader.model.question().set_guess(170 * kMiB);
  reader.model.question().lock();
  reader.poll();
  REQUIRE(reader.model.question().reveal());
  CHECK(reader.model.question().reveal()->is ==
        Approx(static_cast<double>(tests::peak_of({.weights = 80 * record::kMiB}))));
}

TEST_CASE("a live run grows, ends, and can be run again", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  reader.model.run(0);
  CHECK(reader.model.control().running());
  reader.poll(3);
  const std::uint64_t early = reader.model.runs().all().back().ledger->size();
  reader.poll(2);
  CHECK(reader.model.runs().all().back().ledger->size() > early);
  CHECK(status_line(reader.model) == "Recording: step 1 of 2");
  reader.finish_run();
  CHECK(reader.model.runs().all().back().ledger->size() == reader.model.control().recording()->events().size());
  CHECK(status_line(reader.model).find("2 steps, 0 events dropped") != std::string::npos);
  CHECK(reader.model.control().estimate().has_value());
  CHECK_FALSE(notice_of(reader.model));
  reader.model.run(reader.now);
  reader.finish_run();
  CHECK(reader.backend.starts() == 2);
  REQUIRE(reader.model.runs().all().size() == 3);
  CHECK(reader.model.runs().shown() == 2);
  reader.model.forget(0);
  CHECK(reader.model.runs().all().size() == 3);
  reader.model.forget(2);
  CHECK(reader.model.runs().all().size() == 2);
  CHECK(reader.model.runs().shown() >= 0);
  CHECK(reader.model.figure(400).head.empty_reason.empty());
}

TEST_CASE("a run that exceeds its budget is replaced by the stored one, with a notice", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  reader.model.run(reader.now, 20.0);
  reader.poll(3);
  reader.backend.hold(true);
  reader.now += 19;
  reader.poll();
  CHECK(reader.model.control().running());
  reader.now += 2;
  reader.poll(3);
  CHECK_FALSE(reader.model.control().running());
  CHECK(reader.model.runs().shown() == 0);
  REQUIRE(notice_of(reader.model));
  CHECK(notice_of(reader.model)->body ==
        "The run here took more than 20 s and was cancelled. This one was recorded on CPU.");
  reader.backend.hold(false);
  reader.model.run(reader.now);
  reader.finish_run();
  CHECK_FALSE(notice_of(reader.model));
  CHECK(reader.model.runs().shown() == 2);
}

TEST_CASE("the figure shows the prediction until a run has data", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  reader.model.show_tab(1);  // the peak, drawn after a whole step
  REQUIRE(reader.model.figure(400).head.empty_reason.empty());
  REQUIRE(reader.model.set_param("batch", "3"));
  reader.model.run(reader.now);
  CHECK(reader.model.figure(400).head.source == record::Source::kFormula);  // there is no planner
  REQUIRE(reader.model.figures().until_run() != nullptr);
  CHECK(reader.model.figures().until_run()->recording->info().params.at("batch") == "3");
  reader.finish_run();
  CHECK(reader.model.figure(400).head.source != record::Source::kFormula);
  CHECK(reader.model.figures().until_run() == nullptr);
}

TEST_CASE("a run without data does not change the picture while the question is open", "[window][page]") {
  Reader reader;
  reader.model.figure(400);
  reader.model.run(reader.now);
  CHECK(reader.model.figure(400).head.empty_reason.empty());
  REQUIRE(reader.model.figures().until_run() != nullptr);
  CHECK(reader.model.figures().until_run()->recording == reader.stored);
}

TEST_CASE("the axis does not shrink while a control is held, and settles on release", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  reader.model.run(reader.now);  // the new run has larger weights
  reader.finish_run();
  const auto top = [&] { return lessons::axes_of(reader.model.figure(400)).y.high; };
  const double large = top();
  reader.model.figures().hold_axis(true);
  reader.model.show_run(0);
  CHECK(top() == large);
  reader.model.figures().hold_axis(false);
  CHECK(top() < large);
}

TEST_CASE("the list shows the peak after the answer, and the card names the run that answered", "[window][page]") {
  Reader reader;
  reader.model.figure(400);
  reader.model.figures().view().set_cursor(lessons::axes_of(reader.model.figure(400)).x.high * 0.1);
  reader.model.question().set_guess(110 * kMiB);
  reader.model.question().lock();
  reader.poll();
  CHECK_FALSE(tests::timeline_of(reader.model.figure(400)).alive->at_cursor);
  CHECK(tests::timeline_of(reader.model.figure(400)).alive->total == tests::peak_of({}));
  CHECK(answered_by(reader.model).starts_with("CPU: Tiny"));
  CHECK_FALSE(left_answer(reader.model));
  reader.model.run(reader.now);
  reader.finish_run();
  CHECK(left_answer(reader.model));
}

TEST_CASE("a lost engine leaves the recorded data, and the next run works", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  reader.model.run(0);
  reader.poll(4);
  reader.backend.lose_engine("The engine was killed by signal 9.");
  reader.poll();
  REQUIRE(notice_of(reader.model));
  CHECK(notice_of(reader.model)->kind == Notice::Kind::kTrouble);
  CHECK(notice_of(reader.model)->body.find("signal 9. All 16 events") != std::string::npos);
  CHECK(reader.model.figure(400).head.empty_reason.empty());
  reader.model.run(reader.now);
  reader.finish_run();
  CHECK_FALSE(notice_of(reader.model));
}

TEST_CASE("running out of memory is shown only after the answer", "[window][page]") {
  Reader reader;
  reader.backend.use(small_run({.out_of_memory = true}));
  reader.model.figure(400);
  reader.model.run(0);
  reader.finish_run();
  CHECK_FALSE(notice_of(reader.model));
  reader.model.question().skip();
  REQUIRE(notice_of(reader.model));
  CHECK(notice_of(reader.model)->kind == Notice::Kind::kOutOfMemory);
  CHECK(notice_of(reader.model)->head == "Out of memory in the loss");
  CHECK(notice_of(reader.model)->body.find("30.00 MiB") != std::string::npos);
  CHECK(notice_of(reader.model)->body.find("Cross entropy, gradient requested") == 0);  // the label, not the key
}

TEST_CASE("an engine that cannot work gives a reason", "[window][page]") {
  Reader reader;
  reader.backend.set_trouble("The engine died three times in two minutes.");
  REQUIRE(notice_of(reader.model));
  CHECK(notice_of(reader.model)->head == "The engine is not available");
  CHECK(notice_of(reader.model)->body == "The engine died three times in two minutes.");
}

TEST_CASE("settings are checked and passed to the run", "[window][page]") {
  Reader reader;
  CHECK(reader.model.set_param("batch", "8"));
  CHECK_FALSE(reader.model.set_param("batch", "0"));
  reader.model.run(0);
  CHECK(reader.backend.last_params().integer("batch") == 8);
  reader.model.control().cancel();
  reader.poll();
  CHECK(reader.backend.cancels() == 1);
  CHECK_FALSE(reader.model.control().running());
  CHECK_FALSE(notice_of(reader.model));
}

TEST_CASE("the change between two moments is the sum of its kinds", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  const lessons::FigureData& figure = reader.model.figure(400);
  reader.model.figures().view().set_measure(
      TimelineView::Range{lessons::axes_of(figure).x.low, tests::timeline_of(figure).peak->x});
  const auto measured = reader.model.measured();
  REQUIRE(measured);
  CHECK(measured->peak == tests::peak_of({}));
  // The range adds both logits and the activations of four layers, or of three if its start includes one.
  CHECK(measured->change >= 3 * 10 * record::kMiB + 60 * record::kMiB);
  CHECK(measured->change <= 4 * 10 * record::kMiB + 60 * record::kMiB);
}

TEST_CASE("the cursor steps from change to change", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  const double peak = tests::timeline_of(reader.model.figure(400)).peak->x;
  reader.model.figures().view().set_cursor(peak);
  const record::Bytes before = tests::timeline_of(reader.model.figure(400)).alive->total;
  reader.model.figures().step_cursor(+1);
  REQUIRE(reader.model.figures().view().cursor());
  CHECK(*reader.model.figures().view().cursor() > peak);
  CHECK(tests::timeline_of(reader.model.figure(400)).alive->total != before);
}

TEST_CASE("a playing figure advances twice a second, stops at its end, and can be stepped", "[window][figure]") {
  lessons::Page schedule = page();
  schedule.figures = {"checkpoint_schedule"};
  schedule.question.reset();
  PageModel model{
      schedule, demo(),
      PageSources{.runner = nullptr, .predictions = nullptr, .fixed_settings = "There is no engine.", .stored = {}}};
  model.figure(400);
  CHECK(model.figures().frames() == 18);
  model.figures().show_frame(16);
  CHECK(model.figure(400).head.empty_reason.empty());
  model.figures().play(true, 10);
  CHECK_FALSE(model.poll(10.4, false));
  CHECK(model.figures().frame() == 16);
  CHECK(model.poll(10.5, false));
  CHECK(model.figures().frame() == 17);
  CHECK(model.poll(11.0, false));
  CHECK(model.figures().frame() == 18);
  CHECK(model.figures().plays());
  model.poll(11.5, false);
  CHECK_FALSE(model.figures().plays());
  model.figures().play(true, 12);  // again, from the beginning
  CHECK(model.figures().frame() == 1);
  model.figures().play(false, 12);
  model.figures().show_frame(99);
  CHECK(model.figures().frame() == 18);
  (void)model.figures().set_param("checkpoints", "12");  // as a click on f3 does
  CHECK(model.figure(400).head.frames == 16);
  CHECK(model.figures().frame() == 16);
}

TEST_CASE("a page starts with its own run, and runs smaller settings if that needs a GPU", "[window][page]") {
  lessons::Page page = tests::page("where_memory_goes");
  page.here = {{"seq", "64"}};
  const auto stored = small_run({.device = record::DeviceKind::kGpu});
  ScriptedBackend no_gpu(stored), gpu(stored);
  gpu.add_gpu(2 * tests::peak_of({}));
  const auto begun = [&](ScriptedBackend& backend) {
    PageModel model(page, demo(), PageSources{.runner = &backend, .fixed_settings = "", .stored = {stored}});
    model.question().skip();
    CHECK(model.settings().as_text("seq") == "256");
    CHECK(device_of(model) == record::DeviceKind::kGpu);
    CHECK_FALSE(left_the_begin(model));
    CHECK(runs_here(model) == (&backend == &gpu));
    REQUIRE(model.set_param("checkpointing", "layer"));
    CHECK(left_the_begin(model));
    CHECK(static_cast<int>(changes_of(model).size()) == 1);
    model.run(0.1);
    return backend.last_params();
  };
  CHECK(begun(no_gpu).as_text("seq") == "64");
  CHECK(no_gpu.last_params().as_text("device") == "auto");
  CHECK(no_gpu.last_params().as_text("checkpointing") == "layer");  // the reader's own setting
  CHECK(begun(gpu).as_text("seq") == "256");
}

TEST_CASE("a page runs smaller settings on a machine with fewer GPUs than ranks", "[window][page]") {
  lessons::Page page = tests::page("where_memory_goes");
  page.here = {{"device", "cpu"}, {"seq", "64"}};
  const auto stored = small_run({.device = record::DeviceKind::kGpu});
  ScriptedBackend gpu(stored);
  gpu.add_gpu(2 * tests::peak_of({}));
  PageModel model(page, demo(), PageSources{.runner = &gpu, .fixed_settings = "", .stored = {stored}});
  model.question().skip();
  CHECK(runs_here(model));
  REQUIRE(model.set_param("ranks", "2"));
  CHECK(why_not_here(model) == "There is one GPU here for 2 ranks");
  CHECK(settings_here(model).as_text("device") == "cpu");
  const predict::StepSettings two = step_of(model);
  CHECK(run_flops(two, true) == 2 * run_flops(two, false));
  gpu.add_gpu(2 * tests::peak_of({}));
  CHECK(runs_here(model));
}
