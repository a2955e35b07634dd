// The fixed part of a step: the line through published and recorded points, and steps of equal tokens.
#include <cmath>
#include <string>
#include <vector>

#include "lessons/figure.h"
#include "lessons/theory/line_fit.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"
#include "tests/support/made_sweep.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::Chart;
using lessons::FigureData;

namespace {

FigureData build_fixed_cost(const std::vector<std::string>& assignments = {}, bool hidden = false) {
  const lessons::Figure* const figure = lessons::find_figure("fixed_cost");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const std::string& assignment : assignments) REQUIRE(params.set_assignment(assignment).ok());
  const record::Recording sweep = tests::made_report_sweep();
  const record::Ledger ledger(sweep);
  return figure->build({.run = &ledger, .params = &params, .view = {.hidden = hidden}});
}

Chart chart(bool published, const std::vector<std::string>& assignments = {}) {
  const FigureData figure = build_fixed_cost(assignments);
  REQUIRE(tests::charts_of(figure).size() == 2);
  return *tests::charts_of(figure)[published ? 0 : 1];
}

std::vector<double> seconds(const lessons::ChartSeries& series) {
  std::vector<double> times;
  for (const lessons::ChartPoint& point : series.points) times.push_back(std::round(point.y / 1e7) / 100);
  return times;
}

}  // namespace

TEST_CASE("a line by least squares") {
  const std::vector<lessons::LinePoint> points{{0, 1}, {1, 3}, {2, 5}, {3, 7}}, one{{2, 5}, {2, 6}};
  const auto exact = lessons::fit_line(points);
  REQUIRE(exact);
  CHECK(exact->at_zero == Approx(1));
  CHECK(exact->slope == Approx(2));
  const std::vector<lessons::LinePoint> scattered{{0, 0}, {1, 1}, {2, 0}};
  CHECK(lessons::fit_line(scattered)->at_zero == Approx(1.0 / 3));
  CHECK(lessons::fit_line(scattered)->slope + 1 == Approx(1));
  CHECK_FALSE(lessons::fit_line(one));
  CHECK_FALSE(lessons::fit_line({}));
}

TEST_CASE("the larger of a constant and a line through zero, by least squares") {
  const std::vector<lessons::LinePoint> points{{1, 4}, {2, 4}, {4, 8}, {8, 16}}, one{{2, 5}};
  const auto exact = lessons::fit_larger(points);
  REQUIRE(exact);
  CHECK(exact->constant == Approx(4));
  CHECK(exact->slope == Approx(2));
  CHECK(exact->at(1) == Approx(4));
  CHECK(exact->at(3) == Approx(6));
  CHECK(lessons::worst_miss(*exact, points) < 1e-12);
  CHECK(lessons::worst_miss(lessons::LineFit{0, 2}, points) == Approx(0.5));  // 2 instead of 4
  CHECK_FALSE(lessons::fit_larger(one));
  CHECK_FALSE(lessons::fit_larger({}));
}

TEST_CASE("the published steps take the times that the report recorded") {
  const Chart report = chart(true);
  REQUIRE(report.series.size() == 3);
  CHECK(seconds(report.series[0]) == std::vector<double>{3.09, 3.20, 3.37});
  CHECK(seconds(report.series[1]) == std::vector<double>{3.19, 3.21, 3.41});
  CHECK(seconds(report.series[2]) == std::vector<double>{3.20, 3.23, 3.32, 3.76, 4.72, 7.08, 9.60, 11.32});
  CHECK(report.series[2].published);
  const lessons::ChartPoint& repeated = report.series[2].points[1];  // batch 4, four runs
  CHECK(repeated.low == repeated.y);
  CHECK(repeated.high / repeated.low == Approx(1266.56 / 1242.71));
}

TEST_CASE("the fixed part of the report's step is about three seconds") {
  const Chart all = chart(true);
  REQUIRE(all.references.size() == 2);
  CHECK(all.references[0].label == "2.75 s + 0.0711 s per 1,000 tokens, off by up to 12 %");
  CHECK(all.references[1].label == "the larger of 3.65 s and 0.0998 s per 1,000 tokens, off by up to 23 %");
  CHECK(all.references[0].y.front() == Approx(2.7496e9).epsilon(1e-4));
  CHECK(chart(true, {"points=5"}).references[0].label == "3.03 s + 0.0497 s per 1,000 tokens, off by up to 4 %");
  CHECK(chart(true, {"over=sequence"}).references[0].label == "2.28 s + 0.117 s per 1,000 tokens, off by up to 22 %");
}

TEST_CASE("tokens per second follow from the line, and so does what would be") {
  const Chart speeds = chart(true, {"shows=speed"});
  CHECK(speeds.series[2].points[6].y == Approx(10'244.01));
  CHECK(speeds.references[0].y.back() < 1e6 / 71.05);  // never reaches the limit
  CHECK(speeds.references[0].y.front() == 0);
  const Chart halved = chart(true, {"if=half_fixed"});
  REQUIRE(halved.references.size() == 3);
  CHECK(halved.references[2].label == "if 1.37 s + 0.0711 s per 1,000 tokens");
  CHECK(chart(true, {"if=no_fixed", "shows=speed"}).references[2].y.back() == Approx(1e6 / 71.0546).epsilon(1e-4));
  CHECK(chart(true, {"if=half_slope"}).references[2].label == "if 2.75 s + 0.0355 s per 1,000 tokens");
  CHECK(halved.references[2].y.back() == Approx(halved.references[0].y.back() - 2.7496e9 / 2).epsilon(1e-4));
}

TEST_CASE("the run's steps are those of its speeds: four seconds each here") {
  const Chart run = chart(false);
  REQUIRE(run.series.size() == 3);
  CHECK(seconds(run.series[2]) == std::vector<double>{4, 4, 4, 4, 4});
  CHECK_FALSE(run.series[2].published);
  CHECK(run.references[0].y.back() == Approx(4e9));
}

TEST_CASE("at equal tokens all kernels change the report's step by a few per cent") {
  const FigureData figure = build_fixed_cost();
  const lessons::Table& table = tests::table_of(figure);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].cells == std::vector<std::string>{"+3.0, +0.5, +1.2 %", "+3.5, +1.2, −1.6 %"});
  CHECK(table.rows[0].note == "Hugging Face's way: 3.09, 3.20, 3.37 s at 1,024; 4,096; 8,192 tokens");
  CHECK(table.rows[1].cells.back() == "+0.0, +0.0, +0.0 %");
  CHECK(table.foot.find("differ by 1.9 %") != std::string::npos);
}

TEST_CASE("while the question is open only Hugging Face's way is there") {
  const FigureData figure = build_fixed_cost({}, true);
  for (const Chart* chart : tests::charts_of(figure)) {
    REQUIRE(chart->series.size() == 1);
    CHECK(chart->series[0].kind == lessons::SeriesKind::kEager);
    CHECK(chart->references.empty());
  }
  CHECK(tests::table_of(figure).rows.empty());
}

TEST_CASE("one run has no fixed part to show") {
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  CHECK_FALSE(lessons::find_figure("fixed_cost")->build({.run = &ledger}).head.empty_reason.empty());
}
