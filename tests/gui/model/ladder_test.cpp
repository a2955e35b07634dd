// A page's ladder: order, switches, measured and computed rungs; and a held switch of the strip.
#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "app/common/assets.h"
#include "app/common/session.h"
#include "app/page/page_facts.h"
#include "app/page/page_model.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/strategies.h"
#include "demos/predict/cards/cards.h"
#include "lessons/card_limit.h"
#include "lessons/measurements/sweep.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

std::shared_ptr<const record::Recording> stored(const std::string& name) {
  auto recording =
      app::load_recording(app::recording_path(std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets", name));
  REQUIRE(recording);
  return recording.value();
}

std::unique_ptr<PageModel> open(const char* id, std::vector<std::shared_ptr<const record::Recording>> runs,
                                app::Predictions* predictions) {
  PageSources sources;
  sources.predictions = predictions;
  sources.stored = std::move(runs);
  return std::make_unique<PageModel>(page(id), experiments::training_step(), std::move(sources));
}

void settle(PageModel& model, app::Predictions& service) {
  for (int quiet = 0, i = 0; quiet < 20 && i < 4000; ++i) {
    if (model.poll(0, service.poll()) || service.busy())
      quiet = 0;
    else
      ++quiet;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::size_t computed(PageModel& model) {
  const auto& rungs = tests::rungs_of(model.figure(400));
  return static_cast<std::size_t>(std::ranges::count_if(rungs, &lessons::Rung::predicted));
}

std::size_t place(PageModel& model, std::string_view id) {
  const auto& switches = model.ladder().switches();
  return static_cast<std::size_t>(std::ranges::find(switches, id, &Ladder::Switch::id) - switches.begin());
}

// True if no rung is compared with one of another machine.
bool differences_stay_on_one_machine(PageModel& model) {
  const record::Recording& ladder = *model.on_show()->recording;
  const auto& rungs = tests::rungs_of(model.figure(400));
  std::string before;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const record::SweepPoint& point = ladder.sweep_points()[i];
    const std::string machine = lessons::machine_of(ladder.info(), point);
    const bool told = !rungs[i].speed.delta.empty() || (!rungs[i].delta.empty() && rungs[i].delta != "other machine");
    if (told && !lessons::comparable(machine, before)) return false;
    if (lessons::completed(point)) before = machine;
  }
  return true;
}

}  // namespace

TEST_CASE("a stored ladder starts with its settings, order and bytes, and other orders are predicted", "[page]") {
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  const auto ladder = stored("ladder_h200");
  const auto model = open("ladder", {ladder}, &predictions.service);
  model->question().skip();
  settle(*model, predictions.service);
  CHECK(model->settings().as_text("model") == "llama-3.2-1b");
  CHECK(device_of(*model) == record::DeviceKind::kGpu);
  CHECK(computed(*model) == 0);
  CHECK(predictions.planner.starts() == 0);
  const auto& points = ladder->sweep_points();
  REQUIRE(model->on_show() != nullptr);
  const auto& shown = model->on_show()->recording->sweep_points();
  REQUIRE(shown.size() == experiments::ladder_techniques().size() + 1);  // rungs without runs are off and last
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(shown[i].peak.allocated == points[i].peak.allocated);
    CHECK(shown[i].tokens_per_second == points[i].tokens_per_second);
  }
  // Once both swapped rungs are on, the settings are the recorded ones again.
  model->ladder().move(0, 1);
  model->poll(0, false);
  CHECK_FALSE(model->on_show()->recording->outcome());
  CHECK(tests::rungs_of(model->figure(400)).size() == shown.size());
  settle(*model, predictions.service);
  CHECK(computed(*model) == 1);
  CHECK(tests::rungs_of(model->figure(400))[1].predicted);
  CHECK(model->on_show()->recording->outcome());
  CHECK(shown[2].peak.allocated == model->on_show()->recording->sweep_points()[2].peak.allocated);
  CHECK(model->set_param("batch", "2"));
  settle(*model, predictions.service);
  CHECK(computed(*model) == points.size());
  CHECK(model->figure(400).head.source == record::Source::kPredicted);
  for (const lessons::Rung& rung : tests::rungs_of(model->figure(400))) CHECK(rung.speed.text.empty());
}

TEST_CASE("a running ladder has pale predicted rungs, and no difference ever joins two machines", "[page]") {
  const auto ladder = stored("ladder_cpu");
  const auto model = open("ladder", {ladder}, nullptr);
  model->question().skip();
  REQUIRE(device_of(*model) == record::DeviceKind::kCpu);
  model->poll(0, false);
  const auto pending = [&] {
    return std::ranges::count_if(tests::rungs_of(model->figure(400)), &lessons::Rung::pending);
  };
  CHECK(pending() == 0);
  auto here = std::make_shared<record::Recording>();
  record::RunInfo info = ladder->info();
  info.provenance["cpu"] = "The reader's processor";
  here->set_info(info);
  constexpr std::size_t kDone = 2;
  for (std::size_t i = 0; i < kDone; ++i) {
    record::SweepPoint point = ladder->sweep_points()[i];
    point.tokens_per_second /= 8;
    here->append(point);
  }
  model->take_sweep(here, true);
  model->poll(0, false);
  {
    const auto& rungs = tests::rungs_of(model->figure(400));
    REQUIRE(rungs.size() > kDone + 1);
    CHECK(static_cast<std::size_t>(pending()) == rungs.size() - kDone);
    for (const lessons::Rung& rung : rungs)
      if (rung.pending && !rung.value.empty()) CHECK(rung.predicted);
    CHECK(rungs[kDone - 1].source.starts_with("here"));
    CHECK(rungs[kDone].source == "closed form");
    CHECK_FALSE(rungs[kDone - 1].speed.delta.empty());
    CHECK(rungs[kDone].speed.text.empty());
    CHECK(differences_stay_on_one_machine(*model));
  }
  auto stopped = std::make_shared<record::Recording>(*here);
  stopped->set_outcome({});
  model->take_sweep(stopped, false);
  model->poll(0, false);
  {
    const auto& rungs = tests::rungs_of(model->figure(400));
    CHECK(pending() == 0);
    CHECK(rungs[kDone].source == "CPU, stored");
    CHECK(rungs[kDone].delta == "other machine");
    CHECK(rungs[kDone].speed.delta.empty());
    CHECK_FALSE(rungs[kDone + 1].speed.delta.empty());
    CHECK(differences_stay_on_one_machine(*model));
  }
}

TEST_CASE("the running rung grows, and the others wait for it", "[page]") {
  const auto model = open("ladder", {stored("ladder_cpu")}, nullptr);
  model->question().skip();
  model->poll(0, false);
  const auto plan = model->ladder().plan();
  REQUIRE(plan);
  const auto run = small_run();
  record::RunInfo info = run->info();
  info.params = plan.value().points.front().params.to_map();
  run->set_info(info);
  model->ladder().note_running(run);
  model->poll(0, false);
  const auto rungs = tests::rungs_of(model->figure(400));
  CHECK(rungs.front().source == "running");
  CHECK(record::total(rungs.front().bytes) == record::Ledger(*run).peak().totals.allocated);
  CHECK_FALSE(rungs.front().pending);
  CHECK(rungs[1].pending);
  CHECK(rungs[1].predicted);
  model->ladder().note_running(nullptr);
  model->poll(0, false);
  CHECK(tests::rungs_of(model->figure(400)).front().source == "CPU, stored");
  CHECK_FALSE(tests::rungs_of(model->figure(400))[1].pending);
}

TEST_CASE("a card's line crosses the rungs, and the first rung that fits is marked", "[page]") {
  const auto model = open("ladder", {stored("ladder_h200")}, nullptr);
  model->question().skip();
  model->choose_card(lessons::card_named("4090"));
  model->poll(0, false);
  const auto& panel = tests::panel_in<lessons::Rungs>(model->figure(400));
  REQUIRE(panel.card);
  CHECK(panel.card->label == "GeForce RTX 4090");
  CHECK(panel.peaks.high >= static_cast<double>(panel.card->bytes));
  const auto marked = [](const lessons::Rung& rung) { return rung.value.ends_with(", fits"); };
  CHECK(std::ranges::count_if(panel.rungs, marked) == 1);
  const auto first = std::ranges::find_if(panel.rungs, [&](const lessons::Rung& rung) {
    return rung.value != "out of memory" && !rung.value.empty() && record::total(rung.bytes) <= panel.card->bytes;
  });
  REQUIRE(first != panel.rungs.end());
  CHECK(first != panel.rungs.begin());
  CHECK(marked(*first));
}

TEST_CASE("a rung's settings are the page's with the switches up to it", "[page]") {
  const auto model = open("ladder", {}, nullptr);
  model->question().skip();
  model->poll(0, false);
  const std::size_t flce = place(*model, "flce");
  const auto settings = model->ladder().settings_to(flce);
  REQUIRE(settings);
  CHECK(settings->text("loss") == "flce");
  CHECK(settings->text("checkpointing") == "off");
  CHECK(settings->as_text("batch") == model->settings().as_text("batch"));
  model->ladder().turn(flce);
  model->poll(0, false);
  CHECK_FALSE(model->ladder().settings_to(flce));
}

TEST_CASE("only the first rung is requested while the last one is to be guessed", "[page]") {
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  const auto model = open("ladder", {}, &predictions.service);
  REQUIRE(model->question().hides());
  settle(*model, predictions.service);
  CHECK(predictions.planner.starts() == 1);
  const auto& rungs = tests::rungs_of(model->figure(400));
  REQUIRE(rungs.size() == experiments::ladder_techniques().size() + 1);
  CHECK_FALSE(rungs[0].value.empty());
  for (std::size_t i = 1; i < rungs.size(); ++i) CHECK(rungs[i].value.empty());
  model->question().set_guess(1e9);
  model->question().lock();
  settle(*model, predictions.service);
  CHECK(predictions.planner.starts() > 5);
  REQUIRE(model->question().reveal());
  CHECK(model->question().reveal()->is ==
        static_cast<double>(model->on_show()->recording->sweep_points().back().peak.allocated));
}

TEST_CASE("rungs can be switched off, are refused with a reason, and name the settings that they drop", "[page]") {
  const auto model = open("ladder", {}, nullptr);  // by the closed form
  model->question().skip();
  model->poll(0, false);
  CHECK(model->figure(400).head.source == record::Source::kFormula);
  CHECK(model->ladder().why_formula() == "There is no engine to predict with.");
  const auto rung = [&](std::string_view id) { return tests::rungs_of(model->figure(400))[place(*model, id) + 1]; };
  const auto top = [&] { return record::total(tests::rungs_of(model->figure(400)).back().bytes); };
  CHECK(rung("offload_optimizer").note == "drops 8-bit moments, step in backward, stochastic rounding");
  const record::Bytes with = top();
  model->ladder().turn(place(*model, "bf16"));
  CHECK(rung("bf16").off);
  CHECK(record::total(rung("bf16").bytes) == 0);
  CHECK(rung("offload_optimizer").note == "drops 8-bit moments, step in backward");
  CHECK(top() > with);
  model->ladder().turn(place(*model, "checkpointing"));
  CHECK(rung("offload_parameters").note.find("cannot be combined with Checkpointing “off”") != std::string::npos);
  CHECK_FALSE(model->ladder().why_not(place(*model, "offload_parameters")).empty());
  for (const Ladder::Switch& each : std::vector(model->ladder().switches()))
    if (each.on) model->ladder().turn(place(*model, each.id));
  const auto plan = model->ladder().plan();
  REQUIRE(plan);
  CHECK(plan.value().points.size() == 1);
  CHECK(tests::rungs_of(model->figure(400)).size() == experiments::ladder_techniques().size() + 1);
}

TEST_CASE("a held switch is on only while held, and leaves no undo step", "[page]") {
  const auto model = open("checkpointing", {stored("technique_plain_h200")}, nullptr);
  model->question().skip();
  const auto card = std::ranges::find_if(predict::cards(), [](const predict::Card& each) { return each.memory > 0; });
  model->choose_card(&*card);
  CHECK(model->set_param("batch", "2"));
  model->poll(0, true);
  model->poll(0, true);
  const auto ways = model->verdict().shown_ways();
  REQUIRE(!ways.empty());
  const auto way = std::ranges::find_if(ways, [](const WayOut* each) { return each->what->id == "checkpointing"; });
  REQUIRE(way != ways.end());
  const record::Params before = model->settings();
  const auto now = model->on_show()->recording;
  model->hold(**way);
  CHECK(model->history().holding());
  CHECK(model->settings().as_text("checkpointing") == "layer");
  CHECK(model->on_show()->recording != now);
  model->poll(0, true);
  CHECK(model->verdict().shown_ways().size() == ways.size());  // the switches stay while one is held
  model->release();
  CHECK_FALSE(model->history().holding());
  CHECK(model->settings() == before);
  CHECK(model->undo());
  CHECK(model->settings().as_text("batch") == "4");
}

TEST_CASE("a page's own switches come first, and each fused kernel is one switch", "[page]") {
  const auto model = open("checkpointing", {stored("technique_plain_h200")}, nullptr);
  model->question().skip();
  const auto card = std::ranges::find_if(predict::cards(), [](const predict::Card& each) { return each.memory > 0; });
  model->choose_card(&*card);
  CHECK(model->set_param("batch", "2"));
  model->poll(0, true);
  model->poll(0, true);
  std::set<std::string> ids;
  bool others = false;
  for (const WayOut* way : model->verdict().shown_ways()) {
    CHECK_FALSE((way->own && others));
    others = others || !way->own;
    ids.emplace(way->what->id);
  }
  for (const char* id : {"checkpointing", "selective", "fused.swiglu", "fused.rms_norm", "fused_kernels"})
    CHECK(ids.contains(id));
  CHECK(model->verdict().shown_ways().front()->own);
}
