// Kernels' derivatives against finite differences in fp64, and their figure.
#include <cmath>
#include <string>

#include "lessons/figure.h"
#include "lessons/theory/derivatives.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

FigureData built_derivatives(std::initializer_list<std::string> assignments, View view = {}) {
  const Figure* figure = find_figure("derivative_check");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const std::string& each : assignments) REQUIRE(params.set_assignment(each).ok());
  return figure->build({.params = &params, .view = view});
}

const Derivative& named(std::string_view key) {
  for (const Derivative& each : derivatives())
    if (each.key == key) return each;
  FAIL("no such derivative");
  return derivatives().front();
}

constexpr DerivativeInput kExample{.x = {0.5, -1.2, 2.0, 0.1, -0.7, 1.4, -2.0, 0.9},
                                   .dy = {1.0, -0.3, 0.8, 0.2, -1.1, 0.6, 0.4, -0.9},
                                   .weight = {1, 1.1, 0.9, 1, 1.2, 0.8, 1, 1},
                                   .position = 5,
                                   .label = 2};

}  // namespace

TEST_CASE("formulas and differences agree to a millionth, whatever the numbers") {
  for (const Derivative& each : derivatives())
    for (int seed = 1; seed <= 40; ++seed) {
      INFO(each.key << " " << seed);
      const FigureData figure =
          built_derivatives({"operation=" + std::string(each.key), "numbers=" + std::to_string(seed)});
      const Chart& chart = *tests::charts_of(figure).front();
      const auto& differences = chart.series.back().points;
      const auto& formula = chart.series[chart.series.size() - 2].points;
      REQUIRE(formula.size() == 8);
      for (std::size_t i = 0; i < formula.size(); ++i) CHECK(std::abs(formula[i].y - differences[i].y) < 1e-6);
    }
}

TEST_CASE("RMSNorm's gradient has nothing along x, LayerNorm's has no mean either") {
  const Eight rms = named("rms_norm").formula(kExample), layer = named("layer_norm").formula(kExample);
  CHECK(std::abs(dot(kExample.x, rms)) < 1e-4);  // up to epsilon
  CHECK(std::abs(dot(kExample.x, rms_norm_first_term(kExample))) > 0.1);
  Eight ones{};
  ones.fill(1);
  CHECK(std::abs(dot(ones, layer)) < 1e-12);
  CHECK(std::abs(dot(ones, rms)) > 0.01);
}

TEST_CASE("RMSNorm divides by the root of the mean square: (1, 7) becomes (0.2, 1.4)") {
  DerivativeInput in{.x = {1, 7, 1, 7, 1, 7, 1, 7}};
  in.weight.fill(1);
  const auto y = named("rms_norm").forward(in);
  CHECK(y[0] == Approx(0.2).epsilon(1e-5));
  CHECK(y[1] == Approx(1.4).epsilon(1e-5));
}

TEST_CASE("RoPE turns back and keeps lengths, and cross entropy's gradient adds up to nothing") {
  const Eight turned = named("rope").formula(kExample);
  CHECK(dot(turned, turned) == Approx(dot(kExample.dy, kExample.dy)));
  DerivativeInput loss = kExample;
  loss.dy = {1};
  const Eight dx = named("cross_entropy").formula(loss);
  double sum = 0;
  for (const double each : dx) sum += each;
  CHECK(std::abs(sum) < 1e-12);
  CHECK(dx[2] < 0);  // only the label's gradient is negative
}

TEST_CASE("differences over a large h are far from the derivative, and so are those over a tiny one") {
  const Derivative& operation = named("swiglu");
  const auto apart = [&](double h) {
    const Eight formula = operation.formula(kExample), by = differences(operation, kExample, h);
    double most = 0;
    for (std::size_t i = 0; i < by.size(); ++i) most = std::max(most, std::abs(formula[i] - by[i]));
    return most;
  };
  CHECK(apart(1e-5) < 1e-9);
  CHECK(apart(1e-1) > 1e-4);
  CHECK(apart(1e-13) > 1e-6);
}

TEST_CASE("while the question is open nothing says what the second term removes") {
  const FigureData open = built_derivatives({}, {.hidden = true}), answered = built_derivatives({});
  CHECK(tests::charts_of(open).front()->series.size() == 2);
  CHECK(tests::charts_of(answered).front()->series.size() == 3);
  CHECK(tests::table_of(open).foot.find("Dot product") == std::string::npos);
  CHECK(tests::table_of(answered).foot.find("Dot product") != std::string::npos);
  CHECK(tests::table_of(answered).rows.size() == 5);
  CHECK(tests::table_of(built_derivatives({"operation=swiglu"})).columns[4] == "b1");
  CHECK(tests::table_of(built_derivatives({"element=2", "value=250"})).rows[0].cells[1] == "2.50");
}
