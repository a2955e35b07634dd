// The page without drawing: text, question, timeline's view, settings, runs.
#include <memory>

#include "app/page/evidence.h"
#include "app/page/page_model.h"
#include "app/page/param_scale.h"
#include "demos/experiments/demo.h"
#include "tests/gui/scripted_backend.h"
#include "tests/gui/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::page;
using headroom::tests::ScriptedBackend;
using headroom::tests::small_run;
using headroom::tests::SmallRun;

namespace {

constexpr double kMiB = static_cast<double>(record::kMiB);

const lessons::Page& page() { return tests::page("where_memory_goes"); }
const experiments::DemoInfo& demo() { return *experiments::find_demo("train_step"); }

struct Reader {
  std::shared_ptr<record::Recording> stored = small_run();
  ScriptedBackend backend{small_run({.weights = 80 * record::kMiB})};
  PageModel model{
      page(), demo(),
      PageSources{.runner = &backend, .planner = nullptr, .fixed_settings = "", .stored = {stored}, .replay_of = {}}};
  double now = 0;

  void poll(int times = 1) {
    for (int i = 0; i < times; ++i) {
      const bool news = backend.poll();
      model.poll(now += 0.1, news);
    }
  }
  void finish_run() {
    for (int i = 0; i < 1000 && model.control().running(); ++i) poll();
  }
};

}  // namespace

TEST_CASE("a guess stays in its range, and is compared once locked", "[window][question]") {
  Question question(&*page().question);
  CHECK(question.hides());
  CHECK_FALSE(question.can_lock());
  CHECK(question.why_not_lock() == "Drag the marker or type a number first.");
  question.lock();
  CHECK(question.state() == Question::State::kOpen);  // nothing was guessed
  question.set_guess(-5);
  CHECK(question.can_lock());
  CHECK(*question.guess() == 0);
  REQUIRE(question.set_guess_text(" 150,5 ", "MiB", kMiB));
  CHECK(*question.guess() == Approx(150.5 * kMiB));
  REQUIRE(question.set_guess_text("2 GiB", "MiB", kMiB));
  CHECK(*question.guess() == Approx(2048 * kMiB));
  REQUIRE(question.set_guess_text("1,024", "MiB", kMiB));  // as the page writes a thousand
  CHECK(*question.guess() == Approx(1024 * kMiB));
  REQUIRE(question.set_guess_text("2.0 GiB", "MiB", kMiB));
  CHECK_FALSE(question.set_guess_text("much", "MiB", kMiB));
  CHECK(*question.guess() == Approx(2048 * kMiB));

  question.set_guess(110 * kMiB);
  question.lock();
  CHECK(question.locked());
  question.set_guess(1);
  CHECK(*question.guess() == Approx(110 * kMiB));
  const auto run = small_run();
  record::Ledger ledger(*run);
  ledger.update();
  REQUIRE(question.compare(ledger));
  REQUIRE(question.reveal());
  CHECK(question.reveal()->is == Approx(static_cast<double>(tests::peak_of({}))));
  CHECK(question.reveal()->factor == Approx(2.0));  // 220 MiB against 110 MiB
}

TEST_CASE("how far off a guess is, in percent below a factor of 1.25", "[window][question]") {
  const auto words = [](double said, double is) {
    const Question::Distance distance =
        distance_of({.said = said, .is = is, .factor = std::max(said, is) / std::min(said, is)});
    return std::string(distance.head) + " " + distance.value + std::string(distance.unit);
  };
  CHECK(words(105, 100) == "that is 5% too high");
  CHECK(words(97, 100) == "that is 3% too low");
  CHECK(words(100.9, 100) == "exact to 1%");
  CHECK(words(100, 100) == "exact to 1%");
  CHECK(words(124, 100) == "that is 24% too high");
  CHECK(words(100, 124) == "that is 19% too low");
  CHECK(words(125, 100) == "off by 1.2×");
  CHECK(words(100, 126) == "off by 1.3×");
  CHECK(words(1, 1000) == "off by > 99×");
}

TEST_CASE("a question may be about percent or speed, and takes no bytes then", "[window][question]") {
  Question percent(&*tests::page("eight_bits").question);
  REQUIRE(percent.set_guess_text("31,5 %", "%", 1));
  CHECK(*percent.guess() == Approx(31.5));
  REQUIRE(percent.set_guess_text("4000", "%", 1));
  CHECK(*percent.guess() == 1000);  // the marker's range
  const auto bytes = percent.set_guess_text("5 GiB", "%", 1);
  REQUIRE_FALSE(bytes);
  CHECK(bytes.error().message == "\"5 GiB\" is not a number of %.");
  Question speed(&*tests::page("bandwidth_of_this_machine").question);
  REQUIRE(speed.set_guess_text("52 GB/s", "GB/s", 1e9));
  CHECK(*speed.guess() == Approx(52e9));
}

TEST_CASE("zoom keeps the point under the mouse, pan stops at the ends, fit returns", "[window][timeline]") {
  TimelineView view;
  view.set_full({0, 100});
  view.zoom(30, 0.5);
  CHECK(view.visible().begin == Approx(15));
  CHECK(view.visible().end == Approx(65));
  view.pan(-1000);
  CHECK(view.visible().begin == Approx(0));
  view.pan(1000);
  CHECK(view.visible().end == Approx(100));
  view.zoom(80, 100);
  CHECK_FALSE(view.zoomed());
  view.set_measure(TimelineView::Range{20, 40});
  view.fit();
  CHECK(view.visible() == TimelineView::Range{20, 40});
  view.set_measure(std::nullopt);
  view.fit();
  CHECK_FALSE(view.zoomed());
  view.zoom(50, 1e-30);
  CHECK(view.visible().length() > 0);
}

TEST_CASE("sliders have the stops that people use", "[window][settings]") {
  const auto find = [](std::string_view key) -> const record::ParamSpec& {
    for (const record::ParamSpec& spec : demo().schema)
      if (spec.key == key) return spec;
    throw std::runtime_error("no such key");
  };
  CHECK(stops_of(find("batch")) == std::vector<double>{1, 2, 4, 8, 16, 32, 64, 128, 256});
  const std::vector<double> cards = stops_of(find("cap"));
  CHECK(cards.front() == 0);
  CHECK(std::find(cards.begin(), cards.end(), 24.0 * static_cast<double>(record::kGiB)) != cards.end());
  CHECK(stops_of(find("seed")).empty());  // typed
  record::Params params(demo().schema);
  REQUIRE(params.set("cap", "24GiB"));
  REQUIRE(params.set("seq", "1024"));
  CHECK(shown_value(find("cap"), params) == "24 GiB");
  CHECK(shown_value(find("seq"), params) == "1,024 tokens");
  REQUIRE(params.set("cap", "0"));
  CHECK(shown_value(find("cap"), params) == "no limit");
  CHECK(shown_value(find("data"), params) == "the text of this course");
  CHECK(shown_value(find("weights"), params) == "random ones");  // not this course's
  CHECK(shown_value(find("offload_file"), params) == "a temporary file");
  CHECK(nearest_stop(cards, 24.0 * static_cast<double>(record::kGiB)) ==
        std::find(cards.begin(), cards.end(), 24.0 * static_cast<double>(record::kGiB)) - cards.begin());
}

TEST_CASE("the stored run shows at once, half of it hidden", "[window][page]") {
  Reader reader;
  const lessons::FigureData& figure = reader.model.figure(400);
  CHECK(figure.head.empty_reason.empty());
  REQUIRE(tests::timeline_of(figure).hidden_from);
  CHECK_FALSE(tests::timeline_of(figure).peak);
  CHECK(figure.head.guess_open);   // a marker to drag
  CHECK_FALSE(figure.head.guess);  // from the low end
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

TEST_CASE("what was said stays what it was, before the lock and after, whatever runs", "[window][page]") {
  Reader reader;
  reader.model.figure(400);
  const auto run = [&](const char* batch) {
    REQUIRE(reader.model.set_param("batch", batch));
    reader.model.run(reader.now);
    reader.finish_run();
    reader.model.figure(400);
  };
  run("16");
  CHECK_FALSE(reader.model.question().guess());  // nor does a run make one
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

TEST_CASE("before a guess the axis knows nothing of the answer, and it grows with the guess", "[window][page]") {
  const auto top = [](PageModel& model) { return lessons::guess_axis(model.figure(400))->high; };
  Reader reader, other;
  other.model.take_sweep(small_run({.logits = 300 * record::kMiB}), true);  // comes after the forward pass
  const double before = top(reader.model);
  CHECK(top(other.model) == before);
  reader.model.question().set_guess(before / 2);
  CHECK(top(reader.model) == before);
  REQUIRE(reader.model.question().set_guess_text("3 GiB", "MiB", kMiB));
  CHECK(top(reader.model) == 3072 * kMiB);
  reader.model.question().set_guess(before / 2);
  CHECK(top(reader.model) == 3072 * kMiB);  // does not slip away under the hand
  reader.model.question().set_guess(1e30);  // the marker's range
  CHECK(top(reader.model) == lessons::number_of(&*page().question)->high);
  reader.model.question().set_guess(110 * kMiB);
  reader.model.question().lock();
  reader.poll();
  CHECK(top(reader.model) < 1024 * kMiB);  // what was not said in the end takes no room
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
  const std::uint64_t early = reader.model.runs().back().ledger->size();
  reader.poll(2);
  CHECK(reader.model.runs().back().ledger->size() > early);
  CHECK(reader.model.status_line() == "Recording: step 1 of 2");
  reader.finish_run();
  CHECK(reader.model.runs().back().ledger->size() == reader.model.control().recording()->events().size());
  CHECK(reader.model.status_line().find("2 steps, 0 events dropped") != std::string::npos);
  CHECK(reader.model.control().estimate().has_value());
  CHECK_FALSE(reader.model.notice());
  reader.model.run(reader.now);
  reader.finish_run();
  CHECK(reader.backend.starts() == 2);
  CHECK(reader.model.runs().size() == 2);  // the stored run and one's own
}

TEST_CASE("an engine that is lost leaves what was recorded, and the next run works", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  reader.model.run(0);
  reader.poll(4);
  reader.backend.lose_engine("The engine was killed by signal 9.");
  reader.poll();
  REQUIRE(reader.model.notice());
  CHECK(reader.model.notice()->kind == Notice::Kind::kTrouble);
  CHECK(reader.model.notice()->body.find("signal 9. All 16 events") != std::string::npos);
  CHECK(reader.model.figure(400).head.empty_reason.empty());
  reader.model.run(reader.now);
  reader.finish_run();
  CHECK_FALSE(reader.model.notice());
}

TEST_CASE("running out of memory is shown only after the answer", "[window][page]") {
  Reader reader;
  reader.backend.use(small_run({.out_of_memory = true}));
  reader.model.figure(400);
  reader.model.run(0);
  reader.finish_run();
  CHECK_FALSE(reader.model.notice());
  reader.model.question().skip();
  REQUIRE(reader.model.notice());
  CHECK(reader.model.notice()->kind == Notice::Kind::kOutOfMemory);
  CHECK(reader.model.notice()->head == "Out of memory in the loss");
  CHECK(reader.model.notice()->body.find("30.00 MiB") != std::string::npos);
  CHECK(reader.model.notice()->body.find("Cross entropy, gradient asked for") == 0);  // not the key
}

TEST_CASE("an engine that cannot work says why", "[window][page]") {
  Reader reader;
  reader.backend.set_trouble("The engine died three times in two minutes.");
  REQUIRE(reader.model.notice());
  CHECK(reader.model.notice()->head == "No engine at work");
  CHECK(reader.model.notice()->body == "The engine died three times in two minutes.");
}

TEST_CASE("settings are checked, and go into the run", "[window][page]") {
  Reader reader;
  CHECK(reader.model.set_param("batch", "8"));
  CHECK_FALSE(reader.model.set_param("batch", "0"));
  reader.model.run(0);
  CHECK(reader.backend.last_params().integer("batch") == 8);
  reader.model.cancel();
  reader.poll();
  CHECK(reader.backend.cancels() == 1);
  CHECK_FALSE(reader.model.control().running());
  CHECK_FALSE(reader.model.notice());
}

TEST_CASE("what is measured between two moments adds up", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  const lessons::FigureData& figure = reader.model.figure(400);
  reader.model.view().set_measure(
      TimelineView::Range{lessons::axes_of(figure).x.low, tests::timeline_of(figure).peak->x});
  const auto measured = reader.model.measured();
  REQUIRE(measured);
  CHECK(measured->peak == tests::peak_of({}));
  // From the first layer's activations (or none yet) to the peak: the rest of the activations and both logits.
  CHECK(measured->change >= 3 * 10 * record::kMiB + 60 * record::kMiB);
  CHECK(measured->change <= 4 * 10 * record::kMiB + 60 * record::kMiB);
}

TEST_CASE("the cursor steps from change to change", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  const double peak = tests::timeline_of(reader.model.figure(400)).peak->x;
  reader.model.view().set_cursor(peak);
  const record::Bytes before = tests::timeline_of(reader.model.figure(400)).alive->total;
  reader.model.step_cursor(+1);
  REQUIRE(reader.model.view().cursor());
  CHECK(*reader.model.view().cursor() > peak);
  CHECK(tests::timeline_of(reader.model.figure(400)).alive->total != before);
}

TEST_CASE("a prediction is asked for with the settings, and again when they change", "[window][page]") {
  ScriptedBackend planner(small_run({.source = record::Source::kPredicted}), 1000);
  ScriptedBackend runner(small_run());
  PageModel model(
      page(), demo(),
      PageSources{
          .runner = &runner, .planner = &planner, .fixed_settings = "", .stored = {small_run()}, .replay_of = {}});
  model.question().skip();
  model.show_prediction(true);
  model.poll(0.1, planner.poll());
  CHECK(planner.starts() == 1);
  CHECK(model.figure(400).head.empty_reason.empty());
  CHECK(lessons::axes_of(model.figure(400)).x.unit == lessons::AxisUnit::kEvents);  // it took no time
  CHECK(model.set_param("batch", "8"));
  CHECK(planner.starts() == 2);
  CHECK(planner.last_params().integer("batch") == 8);
  model.show_prediction(false);
  CHECK(runner.starts() == 0);
  planner.set_trouble("The planner cannot start.");
  CHECK(model.why_no_prediction() == "The planner cannot start.");
}

TEST_CASE("two pages ask one planner, and each takes the answer to its own question", "[window][page]") {
  ScriptedBackend planner(small_run({.source = record::Source::kPredicted}), 1000);
  planner.replace_pending(true);
  const auto open = [&] {
    auto model = std::make_unique<PageModel>(
        page(), demo(),
        PageSources{
            .runner = nullptr, .planner = &planner, .fixed_settings = "", .stored = {small_run()}, .replay_of = {}});
    model->question().skip();
    return model;
  };
  const auto first = open(), second = open();
  const auto poll = [&] {
    const bool news = planner.poll();
    first->poll(0, news);
    second->poll(0, news);
  };
  first->show_prediction(true);
  second->show_prediction(true);  // before the first is answered
  CHECK(planner.starts() == 2);
  poll();
  CHECK(first->on_show() == nullptr);
  REQUIRE(second->on_show() != nullptr);
  CHECK(second->on_show()->recording == planner.recording());
  first->reopen();
  CHECK(planner.starts() == 3);
  poll();
  REQUIRE(first->on_show() != nullptr);
  CHECK(first->on_show()->recording != second->on_show()->recording);
  first->reopen();  // it has its answer
  CHECK(planner.starts() == 3);
}

TEST_CASE("run A is compared with what is shown, and is its own run", "[window][page]") {
  Reader reader;
  reader.model.toggle_pin();
  CHECK(reader.model.pinned() == nullptr);  // half of it is hidden still
  reader.model.question().skip();
  reader.model.run(0);
  reader.poll(2);
  CHECK_FALSE(reader.model.can_pin());  // not while it grows
  reader.finish_run();
  reader.model.toggle_pin();
  REQUIRE(reader.model.pinned());
  const auto a = reader.model.pinned()->recording;
  reader.model.figure(400);
  CHECK(reader.model.comparison().rows.empty());
  reader.model.show_run(0);
  const lessons::FigureData& figure = reader.model.figure(400);
  REQUIRE(tests::timeline_of(figure).baseline_peak);
  CHECK(tests::timeline_of(figure).baseline_peak->y ==
        Approx(static_cast<double>(tests::peak_of({.weights = 80 * record::kMiB}))));
  CHECK(figure.head.provenance.contains("run_a.demo"));
  REQUIRE_FALSE(reader.model.comparison().rows.empty());
  CHECK(reader.model.comparison().rows[0].head == "Peak");
  CHECK(reader.model.comparison().rows[0].a == "340.00 MiB");
  CHECK(reader.model.comparison().rows[0].b == "220.00 MiB");
  CHECK(reader.model.comparison().rows[0].change == "−120.00 MiB");
  CHECK(reader.model.comparison().rows[0].share == "−35 %");
  reader.model.run(0);
  reader.finish_run();
  CHECK(reader.model.pinned()->recording == a);  // the next run takes its place on the page only
  reader.model.toggle_pin();
  CHECK(reader.model.pinned() == nullptr);
  CHECK(reader.model.comparison().rows.empty());
  CHECK_FALSE(tests::timeline_of(reader.model.figure(400)).baseline_peak);
}

TEST_CASE("compared runs are named by the settings that differ", "[window][page]") {
  const auto run_with = [](const char* checkpointing, const char* batch) {
    record::Recording recording(
        record::RunInfo{.demo = "train_step", .params = {{"checkpointing", checkpointing}, {"batch", batch}}});
    return recording;
  };
  const record::Recording first = run_with("off", "4"), second = run_with("layer", "4");
  const Comparison comparison = compare_runs(record::Ledger(first), record::Ledger(second));
  CHECK(comparison.a == "Checkpointing off");
  CHECK(comparison.b == "Checkpointing each layer");
  CHECK(compare_runs(record::Ledger(first), record::Ledger(first)).a.empty());
  const record::Recording larger = run_with("off", "48");
  CHECK(compare_runs(record::Ledger(first), record::Ledger(larger)).b == "Batch 48 sequences");
  const record::Recording shorter(record::RunInfo{.demo = "train_step", .params = {{"steps", "1"}}}),
      longer(record::RunInfo{.demo = "train_step", .params = {{"steps", "3"}}});
  CHECK(compare_runs(record::Ledger(shorter), record::Ledger(longer)).b == "3 steps");
}

TEST_CASE("a run is named by its techniques", "[window][page]") {
  record::RunInfo info{.demo = "train_step", .params = {{"model", "tiny"}, {"batch", "4"}, {"checkpointing", "layer"}}};
  CHECK(techniques_of(info).empty());  // all of that is said in its provenance
  info.params["optimizer"] = "adamw_8bit";
  info.params["galore_rank"] = "8";  // of an optimizer that is not in use
  info.params["steps"] = "7";
  CHECK(techniques_of(info) == "Optimizer AdamW, 8-bit moments");
  info.params["fused.rope"] = info.params["fused.swiglu"] = "on";
  CHECK(techniques_of(info) == "Optimizer AdamW, 8-bit moments, fused kernels");
}

TEST_CASE("a run whose GPU is too old for the kernels says so beside its picture", "[window][page]") {
  const auto composed = small_run();
  record::RunInfo info = composed->info();
  info.provenance["kernels_trouble"] = "The GPU is older than the kernels.";
  composed->set_info(info);
  Reader reader;
  CHECK_FALSE(reader.model.notice());
  reader.model.question().skip();
  reader.backend.use(composed);
  reader.model.run(0);
  reader.finish_run();
  REQUIRE(reader.model.notice());
  CHECK(reader.model.notice()->head == "Without our kernels");
  CHECK(reader.model.notice()->body == "The GPU is older than the kernels.");
}

TEST_CASE("runs with the page's settings are evidence, and others are not", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  reader.model.run(reader.now);
  reader.finish_run();
  const record::RunInfo& info = reader.model.runs().back().recording->info();
  record::RunInfo made = info;
  made.demo = demo().id;
  made.params.clear();
  const record::Params& settings = reader.model.settings();
  for (const record::ParamSpec& spec : settings.schema())
    made.params[std::string(spec.key)] = settings.as_text(spec.key);
  CHECK(made_with(made, demo().id, settings));
  made.params["steps"] = "99";  // how long it ran says nothing about a step
  CHECK(made_with(made, demo().id, settings));
  CHECK_FALSE(made_with(made, "bench", settings));
  REQUIRE(reader.model.set_param("batch", "8"));
  CHECK_FALSE(made_with(made, demo().id, reader.model.settings()));
  for (const int index : reader.model.evidence())
    CHECK(made_with(reader.model.runs()[static_cast<std::size_t>(index)].recording->info(), demo().id,
                    reader.model.settings()));
}

TEST_CASE("a figure that plays goes on twice a second, stops at its end, and steps by hand", "[window][figure]") {
  lessons::Page schedule = page();
  schedule.figures = {"checkpoint_schedule"};
  schedule.question.reset();
  PageModel model{schedule, demo(),
                  PageSources{.runner = nullptr,
                              .planner = nullptr,
                              .fixed_settings = "There is no engine.",
                              .stored = {},
                              .replay_of = {}}};
  model.figure(400);
  CHECK(model.frames() == 18);
  model.show_frame(16);
  CHECK(model.figure(400).head.empty_reason.empty());
  model.play(true, 10);
  CHECK_FALSE(model.poll(10.4, false));
  CHECK(model.frame() == 16);
  CHECK(model.poll(10.5, false));
  CHECK(model.frame() == 17);
  CHECK(model.poll(11.0, false));
  CHECK(model.frame() == 18);
  CHECK(model.plays());
  model.poll(11.5, false);
  CHECK_FALSE(model.plays());
  model.play(true, 12);  // again, from the beginning
  CHECK(model.frame() == 1);
  model.play(false, 12);
  model.show_frame(99);
  CHECK(model.frame() == 18);
  (void)model.set_figure_param("checkpoints", "12");  // a click on f3
  CHECK(model.figure(400).head.frames == 16);
  CHECK(model.frame() == 16);
}
