// How long a frame takes in software rendering, and how much is drawn. The bars are wide: tests share their machine;
// the numbers are printed.
#include <algorithm>
#include <cstdio>

#include "imgui.h"
#include "tests/gui/harness.h"
#include "tests/gui/scripted_backend.h"
#include "tests/gui/small_run.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

constexpr std::size_t kMostDrawBytes = std::size_t{8} << 20;  // of vertices and indices in a frame

std::size_t drawn_bytes() {
  const ImDrawData* data = ImGui::GetDrawData();
  return data == nullptr ? 0
                         : static_cast<std::size_t>(data->TotalVtxCount) * sizeof(ImDrawVert) +
                               static_cast<std::size_t>(data->TotalIdxCount) * sizeof(ImDrawIdx);
}

void measure(const char* name, int width, int height, double most_milliseconds) {
  TestAssets assets;
  assets.add(*small_run(), "tiny_cpu");
  // About 16,000 events, played over the frames that are timed.
  ScriptedBackend backend(small_run({.steps = 5, .layers = 16, .extra_events = 200}), 160);
  Stage stage{.width = width, .height = height, .assets = assets.path(), .runner = &backend};
  std::size_t most_bytes = 0;
  std::vector<FrameTime> times = time_frames(stage, 120, [&](app::window::App& app, int frame) {
    if (frame == 10) app.page().question().skip();
    if (frame == 12) app.page().run(0.2);
    most_bytes = std::max(most_bytes, drawn_bytes());
  });
  times.erase(times.begin(), times.begin() + 20);
  const auto median = [&](double FrameTime::*part) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end(),
                     [part](const FrameTime& a, const FrameTime& b) { return a.*part < b.*part; });
    return (*middle).*part;
  };
  const double processor = median(&FrameTime::processor);
  std::printf("%s: a frame takes %.1f ms, %.1f ms of processor time (medians); %.2f MiB drawn at most\n", name,
              median(&FrameTime::wall), processor, static_cast<double>(most_bytes) / (1 << 20));
  CHECK(backend.starts() == 1);
  CHECK(processor < most_milliseconds);
  CHECK(most_bytes < kMostDrawBytes);
  CHECK(most_bytes > 10'000);
}

}  // namespace

TEST_CASE("a growing timeline keeps 20 frames a second at 1280 x 720", "[gui][timing]") {
  measure("1280 x 720", 1280, 720, 50);
}
TEST_CASE("a growing timeline keeps 15 frames a second at 1920 x 1080", "[gui][timing]") {
  measure("1920 x 1080", 1920, 1080, 66);
}

TEST_CASE("a figure that does not change is not laid out again", "[gui][timing]") {
  TestAssets assets;
  assets.add(*small_run(), "tiny_cpu");
  ScriptedBackend backend(small_run());
  Stage stage{.assets = assets.path(), .runner = &backend};
  int settled = 0, after = 0;
  time_frames(stage, 30, [&](app::window::App& app, int frame) {
    if (frame == 15) settled = app.figure().layouts();
    after = app.figure().layouts();
  });
  CHECK(settled > 0);
  CHECK(after == settled);
}
