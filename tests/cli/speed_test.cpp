// Processor time of the command line; wall time would include other programs' load.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/cli/support/program.h"
#include "tests/cli/support/recordings.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

// Best of five: the rest is noise.
double seconds_of(const std::vector<std::string>& arguments) {
  double best = 60;
  for (int i = 0; i < 5; ++i) {
    const Ran ran = run_headroom(arguments);
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    best = std::min(best, ran.cpu_seconds);
  }
  return best;
}

double seconds_of_figure(const record::Recording& recording) {
  const TemporaryFolder folder;
  REQUIRE(recording.write(folder / "a.hrec"));
  return seconds_of({"figures", "memory_timeline", "--from", folder / "a.hrec", "--out", folder / "out"});
}

}  // namespace

TEST_CASE("the option --version answers within 50 ms") { CHECK(seconds_of({"--version"}) < 0.05); }

TEST_CASE("A figure as SVG takes under 0.3 s") { CHECK(seconds_of_figure(small_recording()) < 0.3); }

TEST_CASE("A recording of a million events is read and drawn within a second") {
  CHECK(seconds_of_figure(large_recording(1'000'000)) < 1.0);
}
