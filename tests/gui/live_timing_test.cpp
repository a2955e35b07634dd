// Frames a second while the real engine trains on the same processor.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tests/gui/harness.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

constexpr double kLeastFramesASecond = 10;
constexpr auto kPatience = std::chrono::minutes(3);  // for an engine that loads LibTorch, and its run

double frames_a_second(int width, int height) {
  using Clock = std::chrono::steady_clock;
  TestAssets assets;
  Stage stage{.width = width, .height = height, .assets = assets.path()};
  stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  const auto begin = Clock::now();
  int first = -1;  // the frame at which memory was seen to be taken
  std::optional<record::Outcome> outcome;
  const std::vector<FrameTime> times = time_frames(stage, [&](app::window::App& app, int frame) {
    app::page::PageModel& page = app.page();
    if (frame == 0) page.question().skip();
    if (frame == 0) REQUIRE(page.set_param("steps", "4").ok());
    if (frame == 0) REQUIRE(page.set_param("device", "cpu").ok());
    if (frame == 2) page.run(0);  // engines start after the first picture
    if (frame < 3) return true;
    if (first < 0 && !page.runs().empty() && page.runs().back().ledger->size() > 0) first = frame;
    outcome = page.control().outcome();
    return !outcome && Clock::now() - begin < kPatience;
  });
  REQUIRE(outcome);
  REQUIRE(outcome->kind == record::OutcomeKind::kCompleted);
  REQUIRE(first >= 0);
  double milliseconds = 0, longest = 0;
  for (std::size_t i = static_cast<std::size_t>(first); i < times.size(); ++i) {
    milliseconds += times[i].wall;
    longest = std::max(longest, times[i].wall);
  }
  const double frames = static_cast<double>(times.size()) - first;
  std::printf("%d x %d: %.1f frames/s over %.1f s of a run of 4 steps on the CPU; the longest took %.0f ms\n", width,
              height, frames / milliseconds * 1e3, milliseconds * 1e-3, longest);
  return frames / milliseconds * 1e3;
}

}  // namespace

TEST_CASE("a run on the CPU leaves 10 frames a second at 1280 x 720", "[gui][live][timing]") {
  CHECK(frames_a_second(1280, 720) >= kLeastFramesASecond);
}
TEST_CASE("a run on the CPU leaves 10 frames a second at 1920 x 1080", "[gui][live][timing]") {
  CHECK(frames_a_second(1920, 1080) >= kLeastFramesASecond);
}
