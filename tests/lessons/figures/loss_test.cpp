// Losses by step: both runs on one axis, their largest difference, and that difference next to rounding.
#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::FigureData;

namespace {

record::Recording losses(const std::vector<double>& values, const std::string& model = "tiny") {
  record::RunInfo info{.demo = "train_step", .params = {{"model", model}}};
  info.params["steps"] = std::to_string(values.size());
  record::Recording recording(info);
  for (std::size_t i = 0; i < values.size(); ++i)
    recording.append(record::MetricSample{
        .value = values[i], .step = static_cast<std::int32_t>(i), .kind = record::MetricKind::kLoss});
  recording.set_outcome({});
  return recording;
}

FigureData build_loss(const record::Recording& run, const record::Recording* run_a = nullptr) {
  const record::Ledger ledger(run);
  if (run_a == nullptr) return lessons::find_figure("loss_curves")->build({.run = &ledger});
  const record::Ledger baseline(*run_a);
  return lessons::find_figure("loss_curves")->build({.run = &ledger, .baseline = &baseline});
}

}  // namespace

TEST_CASE("a run's losses are drawn by step, on an axis as long as the run will be") {
  const auto figure = build_loss(losses({5.5, 5.25, 5.0}));
  CHECK(figure.head.empty_reason.empty());
  REQUIRE(tests::charts_of(figure).size() == 1);
  const lessons::Chart& chart = *tests::charts_of(figure).front();
  REQUIRE(chart.series.size() == 1);
  REQUIRE(chart.series[0].points.size() == 3);
  CHECK(chart.series[0].points[1].x == 1);
  CHECK(chart.series[0].points[1].y == 5.25);
  CHECK(chart.x.high == Approx(2.03));  // room for half a mark
  CHECK(chart.x.low == Approx(-0.03));
  CHECK(chart.y.low < 5.0);
  CHECK(chart.y.high > 5.5);
}

TEST_CASE("losses on held-out text are a series beside those of steps") {
  record::Recording run = losses({5.5, 5.25, 5.0, 4.9});
  for (const std::int32_t step : {1, 3})
    run.append(record::MetricSample{.value = 6.0 - step, .step = step, .kind = record::MetricKind::kEvaluationLoss});
  const auto figure = build_loss(run);
  const lessons::Chart& chart = *tests::charts_of(figure).front();
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[1].label == "held-out text");
  REQUIRE(chart.series[1].points.size() == 2);
  CHECK(chart.series[1].points[1].x == 3);
  CHECK(chart.series[1].points[1].y == 3.0);
  CHECK(chart.y.low < 3.0);
}

TEST_CASE("beside run A both are on one axis, and the largest difference is said") {
  const auto before = losses({5.5, 5.25, 5.0, 4.5}, "llama-3.2-1b"), after = losses({5.5, 5.2, 5.004});
  const auto figure = build_loss(after, &before);
  REQUIRE(tests::charts_of(figure).size() == 2);
  REQUIRE(tests::charts_of(figure)[0]->series.size() == 2);
  CHECK(tests::charts_of(figure)[0]->series[0].label == "run A");
  CHECK(tests::charts_of(figure)[0]->y.low < 4.5);  // includes run A's
  CHECK(tests::charts_of(figure)[0]->x.high == Approx(3.045));
  const lessons::Chart& change = *tests::charts_of(figure)[1];
  REQUIRE(change.series.size() == 1);
  REQUIRE(change.series[0].points.size() == 3);  // only steps that both have
  CHECK(change.series[0].points[1].y == Approx(-0.05));
  CHECK(change.title == "Largest difference −0.0500, step 1");
  CHECK(change.x.high == tests::charts_of(figure)[0]->x.high);
  CHECK(change.y.low == Approx(-change.y.high));
  CHECK(figure.head.provenance.at("set.model") == "tiny");
  CHECK(figure.head.provenance.at("run_a.set.model") == "llama-3.2-1b");
}

TEST_CASE("small differences are said in words, and none as none") {
  const auto before = losses({5.5, 5.25}), close = losses({5.5, 5.2500021}), same = losses({5.5, 5.25});
  CHECK(tests::charts_of(build_loss(close, &before))[1]->title == "Largest difference 2.1 millionths, step 1");
  CHECK(tests::charts_of(build_loss(same, &before))[1]->title == "No difference in any step");
}

namespace {

FigureData build_difference(const record::Recording& run, const record::Recording* run_a) {
  const record::Ledger ledger(run);
  if (run_a == nullptr) return lessons::find_figure("loss_difference")->build({.run = &ledger});
  const record::Ledger baseline(*run_a);
  return lessons::find_figure("loss_difference")->build({.run = &ledger, .baseline = &baseline});
}

}  // namespace

TEST_CASE("the difference of losses is a share of run A's, next to the rounding of one number") {
  const auto before = losses({4.0, 2.0, 1.0}), after = losses({4.0, 2.0000002});
  const FigureData figure = build_difference(after, &before);
  const lessons::Chart& chart = *tests::charts_of(figure).at(0);
  CHECK(chart.title == "1 rank against 1 rank: up to 100 billionths of the loss");
  REQUIRE(chart.series.size() == 1);
  REQUIRE(chart.series[0].points.size() == 2);  // only steps that both have
  CHECK(chart.series[0].points[0].y == 0);
  CHECK(chart.series[0].points[1].y == Approx(1e-7));
  REQUIRE(chart.references.size() == 3);
  CHECK(chart.references[0].y[0] == 0);
  CHECK(chart.references[1].label == "fp32 rounds by up to 59.6 billionths");  // 2^-24
  CHECK(chart.references[2].y[0] == -chart.references[1].y[0]);
  CHECK(chart.y.low == -chart.y.high);
  // Next to 1 % of the loss the level would be on the zero line.
  const auto far = losses({4.04, 2.0});
  CHECK(tests::charts_of(build_difference(far, &before)).at(0)->references.size() == 1);
  const auto same = losses({4.0});
  CHECK(tests::charts_of(build_difference(same, &before)).at(0)->title ==
        "1 rank against 1 rank: no difference in any step");
}

TEST_CASE("a difference of losses needs two runs with a common step") {
  const auto run = losses({4.0}), none = losses({});
  CHECK(build_difference(run, nullptr).head.empty_reason.starts_with("Pin a run as run A"));
  CHECK(build_difference(run, &none).head.empty_reason == "There is no step that both runs have.");
  CHECK(build_difference(none, &run).head.empty_reason == "This run measured no loss, because it finished no step.");
}

TEST_CASE("four ranks have the losses of one rank with all four sequences, but for rounding") {
  const auto alone = tests::stored_ranks("zero_step_alone_cpu");
  for (const auto& [name, title] : {std::pair{"zero_step_cpu", "4 ranks with ZeRO-3 against 1 rank: "},
                                    {"zero_step_off_cpu", "4 ranks against 1 rank: "}}) {
    const FigureData figure = build_difference(tests::stored_ranks(name), &alone);
    const lessons::Chart& chart = *tests::charts_of(figure).at(0);
    CHECK(chart.title.starts_with(title));
    REQUIRE(chart.series[0].points.size() == 20);
    for (const lessons::ChartPoint& point : chart.series[0].points) CHECK(std::abs(point.y) < 1e-6);
  }
}

TEST_CASE("runs without a loss say so") {
  CHECK(build_loss(losses({})).head.empty_reason == "This run measured no loss, because it finished no step.");
  CHECK(lessons::find_figure("loss_curves")->build({}).head.empty_reason == "Nothing has run yet.");
  const auto some = losses({5.5}), none = losses({});
  CHECK(tests::charts_of(build_loss(some, &none)).size() == 1);
}
