// The loss scale's rule, and its trace, recorded and simulated.
#include "lessons/theory/loss_scale.h"

#include <cmath>
#include <string>

#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

FigureData built_loss_scale(std::initializer_list<std::string> settings, const record::Recording* run = nullptr,
                            View view = {}) {
  const Figure* figure = find_figure("scale_trace");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const std::string& setting : settings) REQUIRE(params.set_assignment(setting).ok());
  std::optional<record::Ledger> ledger;
  if (run != nullptr) ledger.emplace(*run);
  return figure->build({.run = ledger ? &*ledger : nullptr, .params = &params, .view = view});
}

}  // namespace

TEST_CASE("the loss scale halves at an overflow, doubles after the window and never gets below one") {
  LossScale scale(1024, {.window = 3});
  scale.update(true);
  CHECK(scale.scale() == 512);
  scale.update(false);
  scale.update(false);
  CHECK(scale.scale() == 512);
  scale.update(false);
  CHECK(scale.scale() == 1024);
  scale.update(false);
  scale.update(false);
  scale.update(true);  // the window starts anew
  CHECK(scale.scale() == 512);
  for (int i = 0; i < 20; ++i) scale.update(true);
  CHECK(scale.scale() == 1);
}

TEST_CASE("with a hysteresis of two the first overflow leaves the scale as it was") {
  LossScale scale(1024, {.window = 2, .hysteresis = 2});
  scale.update(true);
  CHECK(scale.scale() == 1024);
  scale.update(true);
  CHECK(scale.scale() == 512);
  scale.update(true);  // the hysteresis is used up until a window has passed
  CHECK(scale.scale() == 256);
  scale.update(false);
  scale.update(false);
  CHECK(scale.scale() == 512);
  scale.update(true);
  CHECK(scale.scale() == 512);
}

TEST_CASE("without variation the simulated scale climbs to the limit, overflows there and comes back") {
  // Gradients of 1 overflow from a scale of 2^16 on. Exponents: 14, 15, 16 (skipped), 15 for 10 steps, 16 (skipped), …
  const FigureData figure = built_loss_scale({"first=14", "window=10", "varies=0", "largest=0", "simulated=43"});
  REQUIRE(tests::charts_of(figure).size() == 1);
  const Chart& chart = *tests::charts_of(figure)[0];
  CHECK(chart.title == "Simulated by the rule: 3 of 43 steps skipped");
  REQUIRE(chart.series.size() == 4);
  CHECK(chart.series[1].points[0].x == 20.5);
  CHECK(chart.series[2].points[0].x == 31.5);
  CHECK(chart.series[3].points[0].x == 42.5);
  CHECK(chart.series[1].points[0].y == 16);
  REQUIRE(chart.references.size() == 1);
  CHECK(chart.references[0].y[0] == 16);
}

TEST_CASE(
    "the trace of a run is from its metrics, and a step with which the count of skipped ones grows has overflowed") {
  record::Recording run = tests::made_recording();
  const auto add = [&](int step, double scale, double skipped) {
    run.append(record::MetricSample{.value = scale, .step = step, .kind = record::MetricKind::kLossScale});
    run.append(record::MetricSample{.value = skipped, .step = step, .kind = record::MetricKind::kSkippedSteps});
  };
  add(0, 65536, 0), add(1, 65536, 1), add(2, 32768, 1);
  const FigureData figure = built_loss_scale({}, &run);
  REQUIRE(tests::charts_of(figure).size() == 2);
  const Chart& chart = *tests::charts_of(figure)[0];
  CHECK(chart.title == "Measured in the run: 1 of 3 steps skipped");
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[1].points[0].x == 1.5);
  CHECK(chart.series[0].points.back().y == 15);
  const record::Recording bare = tests::made_recording();
  CHECK(tests::charts_of(built_loss_scale({}, &bare)).size() == 1);
}
