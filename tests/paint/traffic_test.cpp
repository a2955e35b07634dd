// Three pictures of one operation's kernels: hovering in one highlights all, and squares can be counted.
#include <map>

#include "tests/paint/support.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::app::paint;
using tests::each;

namespace {

lessons::FigureData made() {
  constexpr record::Bytes kSquare = record::kMiB;
  lessons::Traffic panel{.x = {.unit = lessons::AxisUnit::kNanoseconds, .high = 100'000},
                         .rate = {.unit = lessons::AxisUnit::kBytesPerSecond, .high = 1.2e12},
                         .square = kSquare,
                         .copy = 1e12,
                         .copy_label = "a large copy: 1.00 TB/s",
                         .forms = {}};
  panel.forms.push_back({.label = "Eager", .note = "2 launches, 60 µs", .kernels = {}});
  panel.forms[0].kernels = {{"pow", 0, 30'000, 3 * kSquare, 2 * kSquare, 2 * kSquare, "pow"},
                            {"mul", 50'000, 80'000, 4 * kSquare, 1 * kSquare, 0, "mul"}};
  panel.forms.push_back({.label = "Fused", .note = "1 launch, 10 µs", .ours = true, .kernels = {}});
  panel.forms[1].kernels = {{"rms_norm", 0, 10'000, 1 * kSquare, 1 * kSquare, 0, "rms_norm"}};
  lessons::FigureData figure;
  figure.panels.emplace_back(std::move(panel));
  return figure;
}

Frame frame_of(float width, float height) {
  Frame frame;
  frame.width = width, frame.height = height;
  frame.parts.header = false;
  frame.measure = &tests::widths();
  return frame;
}

int filled(const Scene& scene, Color color) {
  int count = 0;
  each<Fill>(scene, [&](Layer, const Fill& fill) { count += fill.color == color; });
  return count;
}

}  // namespace

TEST_CASE("each kernel is in all three pictures, and a square per part of its bytes") {
  const Scene scene = layout(made(), frame_of(1000, 560));
  std::map<int, int> places;
  for (const HitArea& area : scene.hits)
    if (area.mark) ++places[*area.mark];
  REQUIRE(places.size() == 3);
  CHECK(places[0] == 2 + 5);  // a box, a bar, five squares
  CHECK(places[1] == 2 + 5);
  CHECK(places[2] == 2 + 2);
  CHECK(filled(scene, kLight.text3) == 3 + 4 + 1);  // squares of bytes read, and the legend's
  CHECK(filled(scene, kLight.ink) == 2 + 1);        // the fused kernel's box, bar and read square
}

TEST_CASE("a kernel pointed at in one picture is highlighted in all") {
  Frame frame = frame_of(1000, 560);
  frame.marked = 1;
  const Scene scene = layout(made(), frame);
  CHECK(filled(scene, kLight.phase[3]) == 2);  // that kernel's box and bar
  CHECK(filled(scene, kLight.text3) == 4 + 1);
  CHECK(filled(scene, kLight.ink) == 0);
}
