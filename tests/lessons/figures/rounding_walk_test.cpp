// A weight under small updates, stored in four ways.
#include <cmath>
#include <string>

#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

FigureData built_walk(std::initializer_list<std::string> settings, View view = {}) {
  const Figure* figure = find_figure("rounding_walk");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const std::string& setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure->build({.params = &params, .view = view});
}

double end_of(const FigureData& figure, std::string_view way) {
  for (const ChartSeries& series : tests::charts_of(figure)[0]->series)
    if (series.label == way) return series.points.back().y;
  return -1;
}

constexpr const char *kNearest = "bf16, to nearest", *kStochastic = "bf16, stochastic";

}  // namespace

TEST_CASE("1,000 updates of 0.001 leave a bf16 weight of 1 where it was, and reach 2 in fp32 and with a master") {
  const FigureData figure = built_walk({});
  REQUIRE(tests::charts_of(figure).size() == 1);
  REQUIRE(tests::charts_of(figure)[0]->series.size() == 4);
  CHECK(end_of(figure, "fp32") == Approx(2).epsilon(1e-4));
  CHECK(end_of(figure, kNearest) == 1);
  CHECK(end_of(figure, "fp32 master, bf16 copy") == 2);
  const Table& table = tests::table_of(figure);
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[1].cells == std::vector<std::string>{"2 B", "1", "−1"});
  CHECK_THAT(table.foot, ContainsSubstring("2.00 ± 0.08"));
}

TEST_CASE("stochastic rounding ends at 2.00 ± 0.08 over seeds") {
  constexpr int kSeeds = 200;
  double sum = 0, squares = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const double end = end_of(built_walk({"draw=" + std::to_string(seed)}), kStochastic);
    sum += end, squares += end * end;
  }
  const double mean = sum / kSeeds, deviation = std::sqrt(squares / kSeeds - mean * mean);
  CHECK(std::abs(mean - 2) < 3 * 0.0825 / std::sqrt(kSeeds));
  CHECK(deviation == Approx(0.0825).epsilon(0.2));
  CHECK(end_of(built_walk({"draw=1"}), kStochastic) != end_of(built_walk({"draw=2"}), kStochastic));
}

TEST_CASE(
    "errors of rounding to nearest do not average out: a larger update walks too fast, then stops at a power of two") {
  CHECK(end_of(built_walk({"update=0.005", "updates=100"}), kNearest) == 1 + 100 * 0.0078125);  // 1.5 is exact
  CHECK(end_of(built_walk({"update=0.005", "updates=5000"}), kNearest) == 2);
}

TEST_CASE("while the question is open the walk shows fp32 alone") {
  const FigureData figure = built_walk({}, {.hidden = true});
  CHECK(figure.panels.size() == 1);
  CHECK(tests::charts_of(figure)[0]->series.size() == 1);
}
