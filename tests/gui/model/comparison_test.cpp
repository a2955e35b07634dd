// Run A next to the current run, and evidence for the settings.
#include <algorithm>
#include <memory>
#include <utility>

#include "app/common/plan/evidence.h"
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
using app::is_evidence;
using namespace headroom::app::page;
using namespace headroom::tests;

TEST_CASE("run A is a separate run that is compared with the shown one", "[window][page]") {
  Reader reader;
  toggle_pin(reader.model);
  CHECK(reader.model.run_a().pinned() == nullptr);  // half of the run is still hidden
  reader.model.question().skip();
  reader.model.run(0);
  reader.poll(2);
  CHECK_FALSE(can_pin(reader.model));
  reader.finish_run();
  toggle_pin(reader.model);
  REQUIRE(reader.model.run_a().pinned());
  const auto a = reader.model.run_a().pinned()->recording;
  reader.model.figure(400);
  CHECK(reader.model.run_a().comparison().rows.empty());
  reader.model.show_run(0);
  const lessons::FigureData& figure = reader.model.figure(400);
  REQUIRE(tests::timeline_of(figure).baseline_peak);
  CHECK(tests::timeline_of(figure).baseline_peak->y ==
        Approx(static_cast<double>(tests::peak_of({.weights = 80 * record::kMiB}))));
  CHECK(figure.head.provenance.contains("run_a.demo"));
  REQUIRE_FALSE(reader.model.run_a().comparison().rows.empty());
  CHECK(reader.model.run_a().comparison().rows[0].head == "Peak");
  CHECK(reader.model.run_a().comparison().rows[0].a == "340.00 MiB");
  CHECK(reader.model.run_a().comparison().rows[0].b == "220.00 MiB");
  CHECK(reader.model.run_a().comparison().rows[0].change == "−120.00 MiB");
  CHECK(reader.model.run_a().comparison().rows[0].share == "−35 %");
  reader.model.run(0);
  reader.finish_run();
  CHECK(reader.model.run_a().pinned()->recording == a);  // the next run replaces A only on the page
  toggle_pin(reader.model);
  CHECK(reader.model.run_a().pinned() == nullptr);
  CHECK(reader.model.run_a().comparison().rows.empty());
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

namespace {

// The first step is for warm-up; a step has 1,000 tokens.
record::Recording timed(const std::vector<double>& milliseconds,
                        record::OutcomeKind end = record::OutcomeKind::kCompleted) {
  record::Recording run(record::RunInfo{.demo = "train_step"});
  const auto add = [&](record::MetricKind kind, double value, std::size_t step) {
    run.append(record::MetricSample{.value = value, .step = static_cast<std::int32_t>(step), .kind = kind});
  };
  for (std::size_t step = 0; step < milliseconds.size(); ++step) {
    add(record::MetricKind::kStepNanoseconds, 1e6 * milliseconds[step], step);
    add(record::MetricKind::kTokensPerSecond, 1e6 / milliseconds[step], step);
  }
  run.set_outcome({.kind = end});
  return run;
}

Comparison compared(const record::Recording& a, const record::Recording& b) {
  return compare_runs(record::Ledger(a), record::Ledger(b));
}

}  // namespace

TEST_CASE("a speed difference compares medians, and is empty within the spread of the steps", "[window][page]") {
  // Without the first step: medians 850 and 1,700; p20 and p80 of five steps.
  const std::vector<double> slow{9000, 1600, 1700, 1650, 1710, 1800}, fast{1, 850, 800, 820, 900, 950};
  const Comparison faster = compared(timed(slow), timed(fast));
  REQUIRE(faster.rows.size() == 2);
  const Comparison::Row& time = faster.rows[0];
  CHECK(time.head == "Step time");
  CHECK(time.a == "1.70 s");
  CHECK(time.b == "0.85 s");  // in the larger value's unit
  CHECK(time.change == "−0.85 s");
  CHECK(time.share == "−50 %");
  CHECK(time.told);
  CHECK(time.spread_a == "1.64 s to 1.73 s, p20 to p80 of 5 steps");
  CHECK(time.spread_b == "0.82 s to 0.91 s, p20 to p80 of 5 steps");
  CHECK(faster.rows[1].head == "Tokens/s");
  CHECK(faster.rows[1].change == "+588");
  CHECK(faster.early_end.empty());

  // The median is a tenth faster, but the ranges overlap.
  const Comparison noisy = compared(timed({1, 100, 110, 120, 130, 140}), timed({1, 90, 100, 110, 120, 130}));
  for (const Comparison::Row& row : noisy.rows) {
    INFO(row.head);
    CHECK(row.change == "within noise");
    CHECK(row.share.empty());
    CHECK_FALSE(row.told);
  }
  // Four steps after the first, or only one.
  for (const auto& short_run : {std::vector<double>{9, 1, 1, 1, 1}, std::vector<double>{1}}) {
    const Comparison few = compared(timed(slow), timed(short_run));
    CHECK(few.rows[0].change == "too few steps to tell");
    CHECK(few.rows[0].share.empty());
    CHECK_FALSE(few.rows[0].told);
  }
}

TEST_CASE("runs of two machines have no speed difference", "[window][page]") {
  const auto here = small_run({.steps = 8}), there = small_run({.steps = 8, .weights = 80 * record::kMiB});
  record::RunInfo info = there->info();
  info.provenance["cpu"] = "another processor";
  there->set_info(info);
  const record::Ledger a(*here), b(*there);
  const Comparison comparison = compare_runs(a, b);
  const auto speed = std::ranges::find(comparison.rows, "Tokens/s", &Comparison::Row::head);
  REQUIRE(speed != comparison.rows.end());
  CHECK(speed->change == "other machine");
  CHECK(speed->share.empty());
  CHECK_FALSE(speed->told);
  CHECK(comparison.rows.front().change == "+120.00 MiB");  // bytes do not depend on the machine
}

TEST_CASE("a run that ended early has numbers but no difference", "[window][page]") {
  const auto whole = small_run(), cut = small_run({.out_of_memory = true});
  const Comparison comparison = compared(*whole, *cut);
  CHECK(comparison.early_end == "B: out of memory");
  REQUIRE_FALSE(comparison.rows.empty());
  for (const Comparison::Row& row : comparison.rows) {
    CHECK_FALSE(row.a.empty());
    CHECK_FALSE(row.b.empty());
    CHECK(row.change.empty());
    CHECK(row.share.empty());
  }
  const std::vector<double> steps{1, 1, 1, 1, 1, 1};
  CHECK(compared(timed(steps, record::OutcomeKind::kCancelled), *cut).early_end == "A: cancelled, B: out of memory");
  CHECK(compared(*whole, *whole).early_end.empty());
}

TEST_CASE("both runs and their difference have one unit, without losing a byte", "[window][page]") {
  const auto peak = [](const SmallRun& a, const SmallRun& b) { return compared(*small_run(a), *small_run(b)).rows[0]; };
  const SmallRun large{.activations = 280 * record::kMiB};
  const Comparison::Row row = peak(large, {});
  CHECK(row.a == "1.27 GiB");  // 1,300 MiB
  CHECK(row.b == "0.21 GiB");  // 220 MiB
  CHECK(row.change == "−1.05 GiB");
  const Comparison::Row close = peak(large, {.activations = large.activations, .logits = 30 * record::kMiB + 512});
  CHECK(close.change == "+1.00 KiB");
  CHECK(peak({}, {}).change == "the same");
  CHECK(compared(timed({9, 200, 200, 200, 200, 200}), timed({9, 95, 95, 95, 95, 95})).rows[0].change == "−105 ms");
}

TEST_CASE("a run is named by its techniques", "[window][page]") {
  record::RunInfo info{.demo = "train_step", .params = {{"model", "tiny"}, {"batch", "4"}, {"checkpointing", "layer"}}};
  CHECK(techniques_of(info).empty());  // the provenance shows these settings
  info.params["optimizer"] = "adamw_8bit";
  info.params["galore_rank"] = "8";  // a setting of an unused optimizer
  info.params["steps"] = "7";
  CHECK(techniques_of(info) == "Optimizer AdamW, 8-bit moments");
  info.params["fused.rope"] = info.params["fused.swiglu"] = "on";
  CHECK(techniques_of(info) == "Optimizer AdamW, 8-bit moments, fused kernels");
}

TEST_CASE("a run on a GPU too old for the kernels has a notice", "[window][page]") {
  const auto composed = small_run();
  record::RunInfo info = composed->info();
  info.provenance["kernels_trouble"] = "The GPU is older than the kernels.";
  composed->set_info(info);
  Reader reader;
  CHECK_FALSE(notice_of(reader.model));
  reader.model.question().skip();
  reader.backend.use(composed);
  reader.model.run(0);
  reader.finish_run();
  REQUIRE(notice_of(reader.model));
  CHECK(notice_of(reader.model)->head == "Without our kernels");
  CHECK(notice_of(reader.model)->body == "The GPU is older than the kernels.");
}

TEST_CASE("a run on ids reports their type, and a run on text reports nothing", "[window][page]") {
  const auto said_of = [](const char* tokens) {
    const auto run = small_run();
    record::RunInfo info = run->info();
    info.provenance["tokens"] = tokens;
    run->set_info(info);
    Reader reader;
    reader.model.question().skip();
    reader.backend.use(run);
    reader.model.run(0);
    reader.finish_run();
    return notice_of(reader.model) ? notice_of(reader.model)->body : std::string();
  };
  CHECK(said_of("ids of a.bin (uint32, by the ids)") == "ids of a.bin (uint32, by the ids)");
  CHECK(said_of("bytes of a.txt").empty());
}

TEST_CASE("only runs with the page's settings are evidence", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  reader.model.run(reader.now);
  reader.finish_run();
  record::RunInfo made = reader.model.runs().all().back().recording->info();
  made.demo = demo().id;
  made.params.clear();
  const record::Params settings = reader.model.settings();
  for (const record::ParamSpec& spec : settings.schema())
    made.params[std::string(spec.key)] = settings.as_text(spec.key);
  const auto shows = [&](const record::RunInfo& info, const record::Params& asked,
                         record::DeviceKind device = record::DeviceKind::kCpu) {
    return is_evidence(record::Recording(info), demo().id, asked, device);
  };
  CHECK(shows(made, settings));
  CHECK_FALSE(shows(made, settings, record::DeviceKind::kGpu));
  made.params["steps"] = "99";  // the number of steps does not matter
  CHECK(shows(made, settings));
  for (const auto& [key, value] : {std::pair("foo", "1"), std::pair("optimizer", "muon")}) {
    record::RunInfo later = made;  // from a version that knows the parameter or value
    later.params[key] = value;
    CHECK_FALSE(shows(later, settings));
  }
  made.demo = "bench";
  CHECK_FALSE(shows(made, settings));
  made.demo = demo().id;
  record::Recording ended(made);
  record::RunInfo capped = made;
  capped.cap = 1000;
  ended.set_info(capped);
  ended.set_outcome(
      {.kind = record::OutcomeKind::kOutOfMemory, .message = "", .out_of_memory = record::OutOfMemoryFacts{}});
  CHECK_FALSE(is_evidence(ended, demo().id, settings, record::DeviceKind::kCpu));  // evidence only under its limit
  record::Params limited = settings;
  REQUIRE(limited.set("cap", "1000").ok());
  CHECK(is_evidence(ended, demo().id, limited, record::DeviceKind::kCpu));
  REQUIRE(reader.model.set_param("batch", "8"));
  CHECK_FALSE(shows(made, reader.model.settings()));
  CHECK(evidence_of(reader.model).empty());
  CHECK(reader.model.shows_prediction());  // no run has these settings
  const std::string batch = std::exchange(made.params["batch"], "8");
  reader.model.add_run(std::make_shared<record::Recording>(made), RunOnShow::From::kPage, "made");
  REQUIRE(evidence_of(reader.model).size() == 1);
  CHECK(reader.model.runs().all()[static_cast<std::size_t>(evidence_of(reader.model).front())].name == "made");
  REQUIRE(reader.model.set_param("batch", batch));
  CHECK(evidence_of(reader.model) == std::vector<int>{0, 2});  // stored and own run, not the one with batch 8
  CHECK_FALSE(reader.model.shows_prediction());
  CHECK(reader.model.runs().shown() == 2);  // the reader's own run comes first
  reader.model.show_run(1);                 // choosing a run sets its settings
  CHECK(reader.model.settings().integer("batch") == 8);
  CHECK(reader.model.undo());
}

TEST_CASE("a run with unknown settings is shown as recorded, with a notice", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  const auto later = small_run({.weights = 80 * record::kMiB});
  record::RunInfo info = later->info();
  info.params["foo"] = "1";
  later->set_info(info);
  reader.model.add_run(later, RunOnShow::From::kEarlierStart, "20261123-174502-125_where_memory_goes.hrec");
  CHECK(reader.model.runs().shown() == 0);
  CHECK_FALSE(notice_of(reader.model));
  reader.model.show_run(1);
  CHECK(reader.model.figure(400).head.source == record::Source::kRecorded);
  CHECK(reader.model.on_show()->recording == later);
  CHECK(reader.model.on_show()->label.find("foo=1 (not known here)") != std::string::npos);
  REQUIRE(notice_of(reader.model));
  CHECK(notice_of(reader.model)->body.find("foo=1") != std::string::npos);
  CHECK(reader.model.layer(Layer::kMeasured).shown);
  REQUIRE(reader.model.set_param("batch", "8"));
  CHECK(reader.model.figure(400).head.source == record::Source::kFormula);
}
