// Questions of techniques' pages without a timeline: sources of answers, hiding, and formulas.
#include <filesystem>
#include <string>

#include "lessons/figure.h"
#include "lessons/measurements/moment_errors.h"
#include "lessons/measurements/sweep.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/made_recording.h"
#include "tests/support/made_sweep.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

double answer_of(const char* page, const record::Recording& run) {
  return tests::answer_of(page).of(record::Ledger(run));
}

FigureData built_question(const char* id, const record::Recording& recording, View view = {},
                          const record::Recording* run_a = nullptr) {
  const record::Ledger ledger(recording);
  std::optional<record::Ledger> baseline;
  if (run_a != nullptr) baseline.emplace(*run_a);
  return find_figure(id)->build({.run = &ledger, .baseline = baseline ? &*baseline : nullptr, .view = view});
}

// Numbers of two sizes: linear levels lose the small ones, 3 of 4; dynamic levels are off by a tenth for these.
record::Recording moments(double dynamic_error = 0.1) {
  record::Recording run = tests::made_recording();
  record::Histogram way{
      .name = "first_moment.linear.256", .low_exponent = -6, .counts = {30, 0, 10}, .errors = {1, 0, 0}};
  run.append(way);
  way.name = "first_moment.dynamic.256";
  way.errors = {dynamic_error, 0, 0.02};
  run.append(way);
  way.name = "second_moment.dynamic.256";
  way.errors = {0.9, 0, 0.9};
  run.append(way);
  return run;
}

// A run of the demo `moments`: second moments in blocks of 2,048.
record::Recording second_moments(double dynamic_error = 0.1) {
  record::Recording run = tests::made_recording();
  record::Histogram way{
      .name = "second_moment.linear.2048", .low_exponent = -6, .counts = {30, 0, 10}, .errors = {1, 0, 0}};
  run.append(way);
  way.name = "second_moment.dynamic.2048";
  way.errors = {dynamic_error, 0, 0.02};
  run.append(way);
  way.name = "first_moment.dynamic.2048";
  way.errors = {0.9, 0, 0.9};
  run.append(way);
  return run;
}

record::Recording links(bool with_gpu, double bus = 2e7) {
  record::RunInfo info;
  info.demo = "bandwidth";
  info.provenance = {{"device", "Example"}};
  record::Recording run;
  run.set_info(info);
  const auto add = [&](const char* variant, const char* storage, double nanoseconds) {
    record::Measurement row{.panel = "bandwidth", .variant = variant, .timing = "wall", .storage = storage};
    row.median = row.low = row.high = nanoseconds;
    row.samples = 5;
    row.bytes = 1'000'000'000;
    run.append(row);
  };
  if (with_gpu) {
    add("device_copy", "device", 5e5);
    add("to_device", "pageable", 1e8);
    add("to_device", "locked", bus);
  }
  add("host_copy", "pageable", 1e8);
  add("file_read", "direct", 2.5e8);  // 4 GB/s
  add("adamw", "fp32", 1e7);          // 100 GB/s
  return run;
}

template <class Change>
record::Recording changed(const record::Recording& sweep, Change change) {
  record::Recording other(sweep.info());
  for (SweepPoint point : sweep.sweep_points()) {
    change(point);
    other.append(point);
  }
  other.set_outcome({});
  return other;
}

const View kOpen{.guess_open = true, .hidden = true, .asked = true};

std::size_t bars(const FigureData& figure) {
  std::size_t points = 0;
  for (const ChartSeries& series : tests::charts_of(figure).front()->series) points += series.points.size();
  return points;
}

}  // namespace

TEST_CASE("every page asks first, and has something to move") {
  for (const Page* page : tests::course().pages()) {
    INFO(page->id);
    REQUIRE(page->question);
    const bool has_control =
        !page->switches.empty() || !find_figure(page->figures.front())->schema.empty() || page->demo != "train_step";
    CHECK(has_control);
  }
}

TEST_CASE("8 bits: the answer is the mean error over all numbers, and is hidden with its row") {
  const record::Recording run = second_moments();
  CHECK(answer_of("eight_bits", run) == Approx((30 * 10 + 10 * 2) / 40.0));  // percent: 8
  CHECK(answer_of("eight_bits", tests::made_recording()) < 0);
  const FigureData open = built_question("state_error_map", run, {.guess = 30, .hidden = true, .asked = true});
  REQUIRE(tests::charts_of(open).size() == 1);
  REQUIRE(tests::charts_of(open)[0]->series.size() == 1);
  CHECK(tests::charts_of(open)[0]->series[0].points[0].y == Approx(75));
  CHECK(panels_of<HeatMap>(open.panels)[0]->rows == std::vector<std::string>{"even levels, blocks of 2,048"});
  CHECK(open.head.guess == 30.0);
  CHECK(guess_axis(open)->unit == AxisUnit::kPercent);
  CHECK(guess_axis(open)->high > 75);
  const FigureData answered = built_question("state_error_map", run, {.asked = true});
  CHECK(tests::charts_of(answered)[0]->series.size() == 2);
  CHECK(tests::charts_of(answered)[0]->y.high == tests::charts_of(open)[0]->y.high);
  CHECK(guess_axis(built_question("state_error_map", second_moments(5), kOpen))->high == guess_axis(open)->high);
  CHECK(guess_axis(built_question("state_error_map", run, {.guess = 222.5, .hidden = true, .asked = true}))->high ==
        223);
}

TEST_CASE("8 bits: bytes by formula, and what run B is off by more than A") {
  const record::Recording a = moments(0.3), b = moments(), second_a = second_moments(0.3);
  const FigureData figure = built_question("moment_bytes", b, {}, &a);
  REQUIRE(lessons::panel_of<lessons::Table>(figure));
  REQUIRE(tests::table_of(figure).rows.size() == 3);
  CHECK(tests::table_of(figure).rows[0].note == "(4 + 4) · P = 8 × 1,235,814,400");
  CHECK(tests::table_of(figure).rows[2].note == "(1 + 1 + 8/256) · P = 2.031 × 1,235,814,400");
  CHECK(tests::table_of(figure).rows[2].tip.find("2,510,248,000 B") != std::string::npos);
  CHECK(tests::table_of(figure).columns.back() == "first, B − A");
  CHECK(tests::table_of(figure).rows[2].cells == std::vector<std::string>{"2.34 GiB", "8.0 %", "90.0 %", "−15.0 %"});
  CHECK_FALSE(built_question("moment_bytes", b, {.hidden = true}).head.empty_reason.empty());
  const FigureData bars = built_question("state_error_map", second_moments(), {}, &second_a);
  CHECK(tests::charts_of(bars)[0]->series.back().label == "dynamic levels, run A");
  CHECK(tests::charts_of(bars)[0]->series.back().points[0].tip.find("B − A: −15.0 %") != std::string::npos);
}

TEST_CASE("links: the answer is the bus from page-locked memory, else the file, only copies are shown before") {
  CHECK(answer_of("bandwidth_of_this_machine", links(true)) == Approx(5e10));
  CHECK(answer_of("bandwidth_of_this_machine", links(false)) == Approx(4e9));
  CHECK(tests::answer_of("bandwidth_of_this_machine").unit == AxisUnit::kBytesPerSecond);
  const FigureData open =
      built_question("bandwidth_ladder", links(true), {.guess = 1e11, .hidden = true, .asked = true});
  CHECK(bars(open) == 2);
  CHECK(guess_axis(open)->high == guess_axis(built_question("bandwidth_ladder", links(true, 1e5), kOpen))->high);
  CHECK(guess_axis(open)->low == guess_axis(built_question("bandwidth_ladder", links(true, 1e9), kOpen))->low);
  CHECK(guess_axis(built_question("bandwidth_ladder", links(true), {.guess = 2e13, .hidden = true, .asked = true}))
            ->high == 1e14);
  const FigureData answered = built_question("bandwidth_ladder", links(true), {.asked = true});
  CHECK(bars(answered) == 6);
  CHECK(tests::charts_of(answered)[0]->y.low == tests::charts_of(open)[0]->y.low);
  CHECK(tests::charts_of(answered)[0]->categories == tests::charts_of(open)[0]->categories);
}

TEST_CASE("links: what a step must move, at the speed that was measured, and B − A") {
  const record::Recording a = links(true, 4e7), b = links(true);
  const FigureData figure = built_question("offload_times", b, {}, &a);
  REQUIRE(lessons::panel_of<lessons::Table>(figure));
  const TableRow& weights = tests::table_of(figure).rows[0];
  CHECK(weights.note == "(2 · 2) · their P = 4 × 973,144,064");
  // 3,892,576,256 B at 50 GB/s, and at A's 25 GB/s.
  CHECK(weights.cells == std::vector<std::string>{"3.63 GiB", "50.0 GB/s", "0.0779 s", "−0.0779 s"});
  CHECK(tests::table_of(figure).rows[1].note == "2 · their P = 2 × 262,670,336");  // 262,668,288 and the final norm
  CHECK(tests::table_of(figure).rows[2].cells.back() == "–");                      // no link to the host was measured
  const FigureData without = built_question("bandwidth_ladder", b, {}, &a);
  CHECK(tests::charts_of(without)[0]->series.back().label == "run A");
}

TEST_CASE("the ladder: the answer is the last rung's peak, rungs below the first are hidden, and B − A") {
  const record::Recording run = tests::made_ladder();
  const auto& points = run.sweep_points();
  CHECK(answer_of("ladder", run) == static_cast<double>(8 * record::kGiB));
  CHECK(answer_of("ladder", tests::made_ladder({.finished = false})) < 0);  // unfinished
  CHECK(answer_of("ladder", tests::made_recording()) < 0);
  const FigureData open = built_question("ladder_waterfall", run, {.guess = 1e9, .hidden = true, .asked = true});
  REQUIRE(tests::rungs_of(open).size() == points.size());
  CHECK_FALSE(tests::rungs_of(open)[0].value.empty());
  for (std::size_t i = 1; i < tests::rungs_of(open).size(); ++i) {
    CHECK(tests::rungs_of(open)[i].value.empty());
    CHECK(tests::rungs_of(open)[i].delta.empty());
    CHECK(tests::rungs_of(open)[i].bytes == record::ByCategory{});
    CHECK(tests::rungs_of(open)[i].speed.text.empty());
    CHECK(tests::rungs_of(open)[i].tip == tests::rungs_of(open)[i].label);
  }
  CHECK(lessons::axes_of(open).x.high == 30.0 * record::kGiB);  // from the first rung; the second takes 32 GiB
  CHECK(guess_axis(open)->unit == AxisUnit::kBytes);
  const record::Recording larger = changed(run, [&](SweepPoint& point) {
    if (point.label != points[0].label) point.peak.allocated *= 100;
  });
  CHECK(guess_axis(built_question("ladder_waterfall", larger, kOpen))->high == guess_axis(open)->high);

  const record::Ledger ledger(run);
  record::Params params(find_figure("ladder_waterfall")->schema);
  REQUIRE(params.set("delta", "a").ok());
  const FigureData beside =
      find_figure("ladder_waterfall")->build({.run = &ledger, .baseline = &ledger, .params = &params});
  CHECK(tests::rungs_of(beside)[1].delta == "0 B");
  CHECK(tests::rungs_of(beside)[1].before == points[1].peak.allocated);
  CHECK(tests::rungs_of(beside)[0].delta.empty());  // ran out of memory
}

TEST_CASE("the report: while the question is open, failures and the fused kernels are hidden") {
  const record::Recording run = tests::made_report_sweep();
  const FigureData open = built_question("report_batch", run, {.hidden = true, .asked = true});
  const FigureData answered = built_question("report_batch", run, {.asked = true});
  for (std::size_t i = 0; i < 2; ++i) {
    for (const ChartSeries& series : tests::charts_of(open)[i]->series) {
      CHECK(series.kind == SeriesKind::kEager);
      for (const ChartPoint& point : series.points) CHECK_FALSE(point.would_be);
    }
    CHECK(tests::charts_of(answered)[i]->series.size() > tests::charts_of(open)[i]->series.size());
  }
  REQUIRE(tests::charts_of(open)[1]->references.size() == 1);  // the card's line
  CHECK(tests::charts_of(open)[1]->y.high > tests::charts_of(open)[1]->references[0].y[0]);
}
