// Figures of a benchmark: contents and omissions of each chart.
#include <algorithm>
#include <string>

#include "lessons/measurements/bench.h"
#include "lessons/measurements/tables.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/made_bench.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::Chart;
using lessons::ChartSeries;
using lessons::FigureData;

namespace {

FigureData build_bench(std::string_view id, const record::Recording& recording,
                       const std::map<std::string, std::string>& settings = {}, lessons::View view = {}) {
  const lessons::Figure& figure = *lessons::find_figure(id);
  record::Params params(figure.schema);
  for (const auto& [key, value] : settings) REQUIRE(params.set(key, std::string_view(value)).ok());
  const record::Ledger ledger(recording);
  return figure.build({.run = &ledger, .params = &params, .view = view});
}

const Chart* chart_named(const FigureData& figure, std::string_view title) {
  for (const Chart* chart : tests::charts_of(figure))
    if (chart->title == title) return chart;
  return nullptr;
}

const ChartSeries* bench_series(const Chart& chart, std::string_view label) {
  for (const ChartSeries& series : chart.series)
    if (series.label == label) return &series;
  return nullptr;
}

}  // namespace

TEST_CASE("times are in one chart per kernel, one place per shape, one series per form") {
  const FigureData figure = build_bench("bench_times", tests::made_bench());
  REQUIRE(figure.head.empty_reason == "");
  REQUIRE(tests::charts_of(figure).size() == 8);
  const Chart& norms = *tests::charts_of(figure).front();
  CHECK(norms.title == "RMSNorm");
  CHECK(norms.categories == std::vector<std::string>{"4,096", "16,384"});
  REQUIRE(norms.series.size() == 3);  // the copy is not a form of the kernel
  const ChartSeries* eager = bench_series(norms, "eager");
  const ChartSeries* fused = bench_series(norms, "fused");
  REQUIRE((eager != nullptr && fused != nullptr));
  REQUIRE(fused->points.size() == 2);
  // 8192 x 4096 in bf16, five passes at 4e12 bytes per second, 5/4 of the copy's time.
  CHECK(fused->points[0].y == Approx(1.25 * 5 * 8192 * 4096 * 2 / 4e12 * 1e9));
  CHECK(eager->points[0].y == Approx(fused->points[0].y * 8 / 1.25));
  CHECK(fused->points[0].low < fused->points[0].y);
  CHECK(norms.y.high >= eager->points[1].high);
}

TEST_CASE("another clock shows that clock's rows, and a CPU has only its own") {
  const FigureData wall = build_bench("bench_times", tests::made_bench(), {{"timing", "wall"}, {"bars_of", "rope"}});
  const FigureData cold = build_bench("bench_times", tests::made_bench(), {{"bars_of", "rope"}});
  CHECK(tests::charts_of(wall).front()->series[0].points[0].y ==
        Approx(tests::charts_of(cold).front()->series[0].points[0].y + 20'000));
  const record::Recording cpu = tests::made_bench({.device = record::DeviceKind::kCpu});
  CHECK(tests::charts_of(build_bench("bench_times", cpu)).size() == 8);
  CHECK(build_bench("bench_times", cpu, {{"timing", "graph"}}).head.empty_reason != "");
}

TEST_CASE("bandwidth is a part of the copy of the same bytes") {
  const FigureData figure = build_bench("bench_bandwidth", tests::made_bench());
  REQUIRE(tests::charts_of(figure).size() == 1);
  const Chart& chart = *tests::charts_of(figure).front();
  CHECK(chart.categories.size() == 7);  // the output layer's loss has no copy to compare with
  for (const lessons::ChartPoint& point : bench_series(chart, "fused")->points) CHECK(point.y == Approx(80));
  for (const lessons::ChartPoint& point : bench_series(chart, "eager")->points) CHECK(point.y == Approx(12.5));
  REQUIRE(chart.references.size() == 1);
  CHECK(chart.references[0].y == std::vector<double>{100, 100});
}

TEST_CASE("the roofline's slope is the large copy, its ceiling the three products") {
  const FigureData figure = build_bench("bench_roofline", tests::made_bench());
  const Chart& chart = *tests::charts_of(figure).front();
  REQUIRE(chart.references.size() == 2);
  const auto& slope = chart.references[0];
  CHECK(slope.y[0] / slope.x[0] == Approx(4e12));
  const double products = 12.9e12 / (6.0 * 12e9 / 4e12);
  CHECK(chart.references[1].y[0] == Approx(products));
  CHECK(slope.y[1] == Approx(products));
  for (const ChartSeries& series : chart.series)
    for (const lessons::ChartPoint& point : series.points) CHECK(point.y <= products * 1.001);
}

TEST_CASE("while the question is open only the fused form is seen, and the axis does not move with the answer") {
  const record::Recording recording = tests::made_bench();
  const FigureData open = build_bench("bench_memory", recording, {}, {.guess = 1e9, .hidden = true, .asked = true});
  const FigureData answered = build_bench("bench_memory", recording, {}, {.asked = true});
  REQUIRE(tests::charts_of(open).front()->series.size() == 1);
  CHECK(tests::charts_of(open).front()->series[0].kind == lessons::SeriesKind::kFused);
  CHECK(tests::charts_of(answered).front()->series.size() == 3);
  CHECK(open.head.guess == 1e9);
  CHECK(lessons::axes_of(open).y.high == lessons::axes_of(answered).y.high);
}

TEST_CASE("the guess is over the kernel that was asked about, and over no other") {
  const lessons::View view{.guess = 1e9, .asked = true};
  CHECK(build_bench("bench_memory", tests::made_bench(), {}, view).head.guess == 1e9);
  CHECK_FALSE(build_bench("bench_memory", tests::made_bench(), {{"pass", "forward"}}, view).head.guess);
  CHECK_FALSE(build_bench("bench_memory", tests::made_bench(), {{"bars_of", "swiglu"}}, view).head.guess);
}

TEST_CASE("the question's answer is what the eager norm takes at the widest shape") {
  const lessons::Answer& answer = tests::answer_of("fused_against_unfused");
  CHECK(answer.of(record::Ledger(tests::made_bench())) == 9.0 * 8192 * 16384 * 2);
  CHECK(answer.of(record::Ledger(tests::made_recording())) < 0);
}

TEST_CASE("the report's panels have the published points behind them, in the same places") {
  const FigureData figure = build_bench("report_times", tests::made_bench({.report = true}));
  REQUIRE(tests::charts_of(figure).size() == 6);
  const Chart* norm = chart_named(figure, "RMSNorm");
  REQUIRE(norm != nullptr);
  const ChartSeries* liger = bench_series(*norm, "Liger, A100, published");
  REQUIRE(liger != nullptr);
  CHECK(liger->published);
  REQUIRE(liger->points.size() == 4);
  CHECK(liger->points[3].y == Approx(0.41e6));
  CHECK(norm->categories == std::vector<std::string>{"4,096", "8,192", "12,288", "16,384"});
  CHECK(tests::charts_of(build_bench("report_times", tests::made_bench({.report = true}), {{"published", "off"}}))
            .size() == 2);
  CHECK(build_bench("report_times", tests::made_bench()).head.empty_reason != "");
}

TEST_CASE("the report's panels say how many times as long the eager form takes") {
  const FigureData figure = build_bench("report_times", tests::made_bench({.report = true}), {{"as", "ratio"}});
  const Chart* norm = chart_named(figure, "RMSNorm");
  REQUIRE(norm != nullptr);
  REQUIRE(norm->series.size() == 2);
  const ChartSeries* published = bench_series(*norm, "Hugging Face ÷ Liger, A100, published");
  REQUIRE(published != nullptr);
  CHECK(published->points[3].y == Approx(3.55 / 0.41));
  const Chart* rope = chart_named(figure, "RoPE");
  REQUIRE(rope != nullptr);
  CHECK(rope->series.back().points[3].y == Approx(2.17 / 0.215));
}

TEST_CASE("while the question is open the report's panels have the eager form alone") {
  const FigureData hidden = build_bench("report_times", tests::made_bench({.report = true}), {}, {.hidden = true});
  REQUIRE(tests::charts_of(hidden).size() == 6);
  for (const Chart* chart : tests::charts_of(hidden))
    for (const ChartSeries& series : chart->series) CHECK(series.kind == lessons::SeriesKind::kEager);
}

TEST_CASE("the report's memory counts the inputs, as the published peaks do") {
  const FigureData figure = build_bench("report_memory", tests::made_bench({.report = true}));
  const Chart* norm = chart_named(figure, "RMSNorm");
  REQUIRE(norm != nullptr);
  const record::Bytes tensor = 2048 * 4096 * 2;
  CHECK(bench_series(*norm, "fused")->points[0].y == static_cast<double>(4 * tensor));  // two in addition to x and dy
  CHECK(bench_series(*norm, "Liger, A100, published")->points[0].y == 151068344.0);
}

TEST_CASE("published points are all there") {
  CHECK(lessons::published_kernels().size() == 48);
  for (const lessons::PublishedKernel& point : lessons::published_kernels()) {
    CHECK(point.milliseconds > 0);
    CHECK(point.peak > record::kMiB);
  }
}
