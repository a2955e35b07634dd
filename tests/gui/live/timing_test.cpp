// The window's processor time per frame while the real engine trains.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tests/gui/support/harness.h"
#include "tests/support/catch.h"
#include "tests/support/wait.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

constexpr double kMostMilliseconds = 1000.0 / 5;  // mostly for the software renderer's pixels

// The median frame's processor time after the run's first event.
double frame_of_a_live_run(int width, int height) {
  using Clock = std::chrono::steady_clock;
  TestAssets assets;
  Stage stage{.width = width, .height = height, .assets = assets.path()};
  stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  const auto begin = Clock::now();
  int first = -1;  // the first frame with recorded memory
  std::optional<record::Outcome> outcome;
  const std::vector<FrameTime> times = time_frames(stage, [&](app::window::App& app, int frame) {
    app::page::PageModel& page = app.page();
    if (frame == 0) page.question().skip();
    if (frame == 0) REQUIRE(page.set_param("steps", "4").ok());
    if (frame == 0) REQUIRE(page.set_param("device", "cpu").ok());
    if (frame == 2) page.run(0);  // engines start after the first picture
    if (frame < 3) return true;
    if (first < 0 && !page.runs().all().empty() && page.runs().all().back().ledger->size() > 0) first = frame;
    outcome = page.control().outcome();
    return !outcome && Clock::now() - begin < kLongestWait;
  });
  REQUIRE(outcome);
  REQUIRE(outcome->kind == record::OutcomeKind::kCompleted);
  REQUIRE(first >= 0);
  std::vector<double> frames;
  double wall = 0;
  for (std::size_t i = static_cast<std::size_t>(first); i < times.size(); ++i) {
    frames.push_back(times[i].processor);
    wall += times[i].wall;
  }
  std::ranges::nth_element(frames, frames.begin() + static_cast<std::ptrdiff_t>(frames.size() / 2));
  const double median = frames[frames.size() / 2];
  std::printf(
      "%d x %d: %.1f frames/s over %.1f s of a run of 4 steps on the CPU; a frame takes %.1f ms of processor time\n",
      width, height, static_cast<double>(frames.size()) / wall * 1e3, wall * 1e-3, median);
  return median;
}

}  // namespace

TEST_CASE("a frame of a live run costs less than a fifth of a second at 1280 x 720", "[gui][live][timing]") {
  CHECK(frame_of_a_live_run(1280, 720) < kMostMilliseconds);
}
TEST_CASE("a frame of a live run costs less than a fifth of a second at 1920 x 1080", "[gui][live][timing]") {
  CHECK(frame_of_a_live_run(1920, 1080) < kMostMilliseconds);
}
