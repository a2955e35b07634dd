// Diagrams, stacked areas and axes of a few decades.
#include <algorithm>
#include <string>
#include <vector>

#include "app/paint/files/writers.h"
#include "app/paint/scene/ticks.h"
#include "tests/paint/support.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using namespace headroom::app::paint;
using lessons::BoxState;
using record::Category;

namespace {

// Three boxes: in memory, half in memory, and a future one that a click may keep.
lessons::FigureData three_boxes() {
  lessons::Diagram diagram{
      .title = "Step 1 of 2", .width = 12, .height = 4, .unit = "bytes", .boxes = {}, .arrows = {}};
  const auto box = [&](const char* id, double x, BoxState state, double filled, double value) {
    diagram.boxes.push_back({.id = id,
                             .x = x,
                             .y = 1,
                             .width = 2,
                             .height = 2,
                             .label = id,
                             .state = state,
                             .filled = filled,
                             .category = Category::kWeights,
                             .value = value,
                             .tip = std::string("tip of ") + id});
  };
  box("a", 1, BoxState::kAlive, 1, 4096);
  box("b", 5, BoxState::kAlive, 0.5, 2048);
  box("c", 9, BoxState::kNotYet, 1, 0);
  diagram.boxes[2].action = lessons::SetParam{"keep", "c"};
  diagram.arrows = {{.from = 0, .to = 1, .active = true}, {.from = 1, .to = 2}};
  lessons::FigureData figure;
  figure.head.id = "boxes";
  figure.head.title = "Boxes";
  figure.head.frames = 2;
  figure.panels.emplace_back(std::move(diagram));
  return figure;
}

std::vector<Rect> filled_with(const Scene& scene, Color color) {
  std::vector<Rect> rects;
  each<Fill>(scene, [&](Layer layer, const Fill& fill) {
    if (layer == Layer::kBars && fill.color == color) rects.push_back(fill.rect);
  });
  return rects;
}

}  // namespace

TEST_CASE("a box has its content's color up to its fill level, and can be clicked") {
  for (const Frame& frame : frames()) {
    const Scene scene = layout(three_boxes(), frame);
    INFO(frame.width);
    REQUIRE(scene.hits.size() == 3);
    const Rect a = scene.hits[0].rect, b = scene.hits[1].rect, c = scene.hits[2].rect;
    std::vector<Rect> filled = filled_with(scene, frame.palette->of(Category::kWeights).fill);
    std::erase_if(filled, [&](const Rect& rect) { return rect.x0 < a.x0 && rect.y1 <= a.y0; });  // the legend's sample
    const auto within = [&](const Rect& box) {
      return std::find_if(filled.begin(), filled.end(), [&](const Rect& rect) { return rect.inside(box); });
    };
    REQUIRE(within(a) != filled.end());
    CHECK(*within(a) == a);
    REQUIRE(within(b) != filled.end());
    CHECK(within(b)->height() == Approx(b.height() / 2).margin(1));
    CHECK(within(c) == filled.end());
    CHECK(a.x1 < b.x0);
    CHECK(c.x1 <= frame.width);
    REQUIRE(scene.hits[2].action);
    CHECK(scene.hits[2].action->value == "c");
    CHECK_FALSE(scene.hits[0].action);
  }
}

TEST_CASE("an arrow connects two edges, and the current frame's arrow is ink") {
  const Frame frame = frames().front();
  const Scene scene = layout(three_boxes(), frame);
  std::vector<Polyline> shafts;
  each<Polyline>(scene, [&](Layer layer, const Polyline& line) {
    if (layer == Layer::kLines && line.points.size() == 2) shafts.push_back(line);
  });
  REQUIRE(shafts.size() == 2);
  CHECK(shafts[0].points[0].x == Approx(scene.hits[0].rect.x1));
  CHECK(shafts[0].points[1].x == Approx(scene.hits[1].rect.x0));
  CHECK(shafts[0].color == frame.palette->ink);
  CHECK_FALSE(shafts[1].color == frame.palette->ink);
}

TEST_CASE("exported files list the boxes with state and value") {
  const std::string csv = to_csv(three_boxes());
  CHECK(csv.substr(csv.find("box,")) ==
        "box,state,bytes,what\n\"a\",alive,4096,\"tip of a\"\n\"b\",alive,2048,\"tip of b\"\n\"c\",not_yet,0,\"tip of "
        "c\"\n");
  const std::string json = to_json(three_boxes());
  CHECK(json.find("\"state\":\"not_yet\"") != std::string::npos);
  CHECK(json.find("\"frames\":2") != std::string::npos);
}

TEST_CASE("stacked areas touch and follow their points") {
  lessons::Chart chart{.title = "Areas", .stacked = true};
  chart.x = {.unit = lessons::AxisUnit::kNumber, .low = 0, .high = 10, .name = "batch"};
  chart.y = {.unit = lessons::AxisUnit::kBytes, .low = 0, .high = 400};
  const auto series = [&](Category category, double begin, double end) {
    chart.series.push_back({.label = std::string(record::label_of(category)),
                            .category = category,
                            .points = {{.x = 0, .y = begin}, {.x = 10, .y = end}}});
  };
  series(Category::kWeights, 100, 100);
  series(Category::kActivations, 0, 200);
  lessons::FigureData figure;
  figure.head.title = "Areas";
  figure.panels.emplace_back(std::move(chart));
  for (const Frame& frame : frames()) {
    const Scene scene = layout(figure, frame);
    std::vector<Columns> areas;
    each<Columns>(scene, [&](Layer, const Columns& columns) { areas.push_back(columns); });
    INFO(frame.width);
    REQUIRE(areas.size() == 2);
    REQUIRE(areas[0].rects.size() == areas[1].rects.size());
    REQUIRE(areas[0].rects.size() > 50);
    for (std::size_t i = 0; i < areas[0].rects.size(); ++i) REQUIRE(areas[1].rects[i].y1 == areas[0].rects[i].y0);
    const float floor = areas[0].rects.front().y1, level = floor - areas[0].rects.front().y0;
    CHECK(areas[0].rects.back().y0 == areas[0].rects.front().y0);
    CHECK(areas[1].rects.front().height() <= 2 * frame.scale);
    CHECK(areas[1].rects.back().height() == Approx(2 * level).margin(2 * frame.scale));
  }
}

TEST_CASE("an axis with few decades has ticks at 1, 2 and 5") {
  const auto few = chart_ticks({.unit = lessons::AxisUnit::kNumber, .low = 1, .high = 40, .logarithmic = true}, 8);
  std::vector<std::string> labels;
  for (const Tick& tick : few.ticks) labels.push_back(tick.label);
  CHECK(labels == std::vector<std::string>{"1", "2", "5", "10", "20"});
  const auto linear = chart_ticks({.unit = lessons::AxisUnit::kNumber, .low = 0, .high = 16'384}, 5);
  CHECK(linear.ticks.back().label == "15,000");
}
