// Fraction and remaining time from marks.
#include "demos/engine/live/run/progress_meter.h"

#include "tests/support/catch.h"

using headroom::live::ProgressMeter;

TEST_CASE("progress counts marks within a step, and the time left ignores the slow first step") {
  ProgressMeter meter(4, 10);
  meter.begin_step(0, 0);
  CHECK(meter.at(0).fraction == 0);
  CHECK(meter.at(0).time_left == -1);
  for (int i = 0; i < 5; ++i) meter.on_mark();
  CHECK(meter.at(500).fraction == Approx(0.125));
  CHECK(meter.at(500).doing == "step 1 of 4");
  meter.end_step(9000);
  CHECK(meter.at(9000).time_left == 3 * 9000);  // no better estimate yet
  meter.begin_step(1, 9000);
  meter.end_step(10'000);
  CHECK(meter.at(10'000).time_left == 2 * 1000);
  meter.begin_step(2, 10'000);
  CHECK(meter.at(10'400).time_left == 2 * 1000 - 400);
  CHECK(meter.at(15'000).time_left == 1000);  // this step is slow, but at least the last one remains
  CHECK(meter.at(10'400).step == 2);
  CHECK(meter.at(10'400).steps == 4);
  meter.end_step(11'000);
  meter.begin_step(3, 11'000);
  meter.end_step(12'000);
  CHECK(meter.at(12'000).fraction == 1);
  CHECK(meter.at(12'000).time_left == 0);
}
