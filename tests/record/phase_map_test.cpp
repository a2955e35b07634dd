// Maps phases of one run to those of another.
#include <vector>

#include "demos/record/phase_map.h"
#include "tests/support/catch.h"

using namespace headroom::record;

namespace {

PhaseSpan span(Phase phase, double begin, double end) { return {phase, kNoLayer, begin, end}; }

const std::vector<PhaseSpan> kShort{span(Phase::kForward, 0, 10), span(Phase::kLoss, 10, 12),
                                    span(Phase::kBackward, 12, 40), span(Phase::kOptimizer, 40, 50)};
const std::vector<PhaseSpan> kLong{span(Phase::kForward, 0, 100), span(Phase::kLoss, 100, 110),
                                   span(Phase::kBackward, 110, 500), span(Phase::kOptimizer, 500, 520),
                                   span(Phase::kRecompute, 120, 150)};

void check_rises(const PhaseMap& map, double end) {
  double before = map(-1);
  for (double x = 0; x <= end + 1; x += 0.25) {
    CHECK(map(x) >= before);
    before = map(x);
  }
}

}  // namespace

TEST_CASE("phases of two steps align at their borders, with time stretched evenly inside") {
  const PhaseMap map(kShort, 50, kLong, 520);
  CHECK(map(0) == 0);
  CHECK(map(10) == 100);
  CHECK(map(12) == 110);
  CHECK(map(40) == 500);
  CHECK(map(50) == 520);
  CHECK(map(5) == 50);
  CHECK(map(26) == 305);  // half of the backward pass
  CHECK(map(60) == 520);
  check_rises(map, 50);
  const PhaseMap back(kLong, 520, kShort, 50);
  for (const double x : {0.0, 3.0, 11.0, 26.0, 45.0, 50.0}) CHECK(back(map(x)) == Approx(x));
}

TEST_CASE("steps with different phases align at the optimizer, or only at their ends") {
  std::vector<PhaseSpan> twice = kShort;  // two micro-batches
  twice.insert(twice.begin() + 3, {span(Phase::kForward, 40, 50), span(Phase::kBackward, 50, 80)});
  twice.back() = span(Phase::kOptimizer, 80, 90);
  const PhaseMap map(twice, 90, kLong, 520);
  CHECK(map(80) == 500);
  CHECK(map(40) == 250);
  check_rises(map, 90);
  const std::vector<PhaseSpan> ended{span(Phase::kForward, 0, 10), span(Phase::kLoss, 10, 12)};  // out of memory
  const PhaseMap to_end(ended, 12, kLong, 520);
  CHECK(to_end(6) == 260);
  check_rises(to_end, 12);
  const PhaseMap nothing({}, 0, kLong, 520);  // a graph replay has no events
  CHECK(nothing(0) == 0);
  CHECK(nothing(5) == 0);
}
