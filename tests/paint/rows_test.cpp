// Kernel timelines: positions of boxes, distinguishable kinds, and the same data in files.
#include <algorithm>

#include "app/paint/files/writers.h"
#include "tests/paint/support.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::paint::Fill;
using app::paint::Frame;
using app::paint::Layer;
using app::paint::Scene;
using lessons::TimeBox;
using lessons::Work;

namespace {

lessons::FigureData two_runs() {
  lessons::FigureData figure;
  figure.head.id = "launch_forms";
  figure.head.title = "Kernels of one step";
  figure.head.provenance_line = "Example GPU";
  lessons::Lanes panel;
  panel.x = {.unit = lessons::AxisUnit::kNanoseconds, .low = 0, .high = 1'000'000};
  const auto box = [](double begin, double end, Work work, const char* label) {
    return TimeBox{begin, end, work, 1, 4'096, label, std::string("tip of ") + label};
  };
  panel.lanes.push_back({.label = "B: Host",
                         .note = "B: 3 launches, 600 µs of kernels",
                         .baseline = false,
                         .boxes = {box(0, 50'000, Work::kHost, "cudaLaunchKernel")}});
  panel.lanes.push_back(
      {.label = "B: Device",
       .note = "",
       .baseline = false,
       .boxes = {box(100'000, 400'000, Work::kOurs, "rms_norm"), box(400'000, 600'000, Work::kProduct, "gate_proj"),
                 box(600'000, 600'010, Work::kOther, "tiny"), box(700'000, 800'000, Work::kMove, "copy")}});
  panel.lanes.push_back({.label = "A: Device",
                         .note = "A: 1 launch",
                         .baseline = true,
                         .boxes = {box(0, 950'000, Work::kOther, "silu")}});
  figure.panels.emplace_back(std::move(panel));
  return figure;
}

std::vector<Fill> boxes_of(const Scene& scene) {
  std::vector<Fill> fills;
  each<Fill>(scene, [&](Layer layer, const Fill& fill) {
    if (layer == Layer::kBars) fills.push_back(fill);
  });
  return fills;
}

}  // namespace

TEST_CASE("boxes are at their times inside the plot, each kernel at least a line wide") {
  for (const Frame& frame : frames()) {
    const Scene scene = layout(two_runs(), frame);
    const std::vector<Fill> boxes = boxes_of(scene);
    REQUIRE(boxes.size() == 6);
    for (const Fill& box : boxes) {
      CHECK(box.rect.x0 >= scene.map.plot.x0 - 0.5f);
      CHECK(box.rect.x1 <= scene.map.plot.x1 + 1.5f);
      CHECK(box.rect.y0 >= scene.map.plot.y0);
      CHECK(box.rect.y1 <= scene.map.plot.y1 + 0.5f);
      CHECK(box.rect.width() >= 0.5f);
    }
    CHECK(std::abs(boxes[1].rect.x0 - scene.map.x_px(100'000)) <= 1);
    CHECK(boxes[1].color == frame.palette->ink);  // this program's kernel
    CHECK_FALSE(boxes[2].color == boxes[1].color);
    CHECK_FALSE(boxes[3].color == boxes[2].color);
    CHECK(boxes[1].rect.x1 <= boxes[2].rect.x0);
    CHECK(boxes[1].rect.y0 == boxes[2].rect.y0);
    CHECK(boxes[0].rect.y1 < boxes[1].rect.y0);
    CHECK(scene.hits.size() - scene.more.size() == 6);
  }
}

TEST_CASE("a zoomed view shows only its range") {
  lessons::FigureData figure = two_runs();
  lessons::Axis& x = std::get<lessons::Lanes>(figure.panels[0]).x;
  x.low = 650'000;
  x.high = 900'000;
  const Scene scene = layout(figure, frames().front());
  CHECK(boxes_of(scene).size() == 2);  // the copy, and run A's kernel
}

TEST_CASE("the sums of both runs, the lanes' names and the kinds are drawn") {
  const Scene scene = layout(two_runs(), frames().front());
  const auto labels = texts_of(scene, Layer::kLabels);
  CHECK(std::count(labels.begin(), labels.end(), "B: 3 launches, 600 µs of kernels") == 1);
  CHECK(std::count(labels.begin(), labels.end(), "A: 1 launch") == 1);
  const auto axes = texts_of(scene, Layer::kAxes);
  CHECK(std::count(axes.begin(), axes.end(), "A: Device") == 1);
  CHECK(std::count(axes.begin(), axes.end(), "fused, of this program") == 1);
  CHECK(scene.description.find("3 launches") != std::string::npos);
}

TEST_CASE("names of thin lanes above a chart do not touch, whether there is room for the chart or not") {
  lessons::FigureData figure = two_runs();
  auto& lanes = std::get<lessons::Lanes>(figure.panels[0]).lanes;
  for (int rank = 0; rank < 3; ++rank)
    lanes.push_back({.label = "Rank " + std::to_string(rank), .note = "", .thin = true, .boxes = lanes[0].boxes});
  lessons::Chart chart;
  chart.x = chart.y = {.unit = lessons::AxisUnit::kNumber, .low = 0, .high = 1};
  figure.panels.emplace_back(std::move(chart));
  for (const float scale : {1.0f, 2.0f}) {
    for (float height = 320; height < 800; height += 20) {
      CAPTURE(scale, height);
      Frame frame = frames().front();
      frame.scale = scale;
      frame.width = 700 * scale;
      frame.height = height * scale;
      std::vector<float> middles;
      each<app::paint::Text>(layout(figure, frame), [&](Layer layer, const app::paint::Text& text) {
        if (layer == Layer::kAxes && text.text.starts_with("Rank ")) middles.push_back(text.at.y);
      });
      REQUIRE(middles.size() == 3);
      CHECK(middles[1] - middles[0] >= 12 * scale);  // the size of the type
    }
  }
}

TEST_CASE("exported files contain each box with its kind, bytes and text") {
  const std::string csv = app::paint::to_csv(two_runs());
  CHECK(csv.find("row,begin_ns,end_ns,kind,count,bytes,what\n") != std::string::npos);
  CHECK(csv.find("\"B: Device\",100000,400000,fused,1,4096,\"tip of rms_norm\"\n") != std::string::npos);
  const std::string json = app::paint::to_json(two_runs());
  CHECK(json.find("\"tip of gate_proj\"") != std::string::npos);
}

namespace {

// A timeline above the lanes of two_runs(), with the selected kernel's arrow.
lessons::FigureData memory_and_lanes() {
  lessons::FigureData figure = two_runs();
  lessons::Lanes lanes = std::get<lessons::Lanes>(figure.panels[0]);
  lanes.lanes[1].boxes[0].selected = true;
  lanes.flows = {{.from_lane = 0, .to_lane = 1, .from = 0, .to = 100'000}};
  lessons::Timeline timeline;
  timeline.x = lanes.x;
  timeline.x.name = "phases as wide as in B";
  timeline.y = {.unit = lessons::AxisUnit::kBytes, .low = 0, .high = 1 << 30};
  timeline.stack.push_back({0, 1'000'000, {1 << 29}, {1 << 29}});
  timeline.alive = lessons::AliveList{};
  timeline.alive->position = 100'000;
  timeline.alive->at_cursor = true;
  figure.panels = {std::move(timeline), std::move(lanes)};
  return figure;
}

}  // namespace

TEST_CASE("lanes are below the memory on its axis and share its cursor") {
  for (const Frame& frame : frames()) {
    const Scene scene = layout(memory_and_lanes(), frame);
    if (frame.height < 300 * frame.scale) {
      CHECK_FALSE(scene.lanes);
      CHECK(scene.map.plot.height() > 90 * frame.scale);
      continue;
    }
    REQUIRE(scene.lanes);
    CHECK(scene.lanes->y0 > scene.map.plot.y1);
    CHECK(scene.lanes->y1 <= scene.height);
    CHECK(scene.lanes->x0 == scene.map.plot.x0);
    CHECK(scene.lanes->x1 == scene.map.plot.x1);
    const std::vector<Fill> boxes = boxes_of(scene);
    REQUIRE(boxes.size() == 6);
    CHECK(std::abs(boxes[1].rect.x0 - scene.map.x_px(100'000)) <= 1);
    bool through = false;
    each<Fill>(scene, [&](Layer layer, const Fill& fill) {
      const bool at = layer == Layer::kMarks && std::abs(fill.rect.x0 - scene.map.x_px(100'000)) <= 1;
      through = through || (at && fill.rect.y0 <= scene.map.plot.y0 && fill.rect.y1 >= scene.lanes->y1);
    });
    CHECK(through);
    const auto axes = texts_of(scene, Layer::kAxes);
    CHECK(std::count(axes.begin(), axes.end(), "phases as wide as in B") <= 1);
  }
}

TEST_CASE("a launch's arrow ends at its kernel, which is outlined") {
  const Scene scene = layout(memory_and_lanes(), frames().front());
  const std::vector<Fill> boxes = boxes_of(scene);
  const float x = scene.map.x_px(100'000);
  bool line = false, head = false, outline = false;
  each<app::paint::Polyline>(scene, [&](Layer layer, const app::paint::Polyline& drawn) {
    if (layer != Layer::kMarks || drawn.points.empty()) return;
    const auto at_box = [&](app::paint::Point p) {
      return std::abs(p.x - x) <= 1 && std::abs(p.y - boxes[1].rect.y0) <= 1;
    };
    line = line || (drawn.points.size() == 2 && at_box(drawn.points.back()) &&
                    std::abs(drawn.points.front().x - scene.map.x_px(0)) <= 1);
    head = head || (drawn.points.size() == 3 && at_box(drawn.points[1]));
  });
  each<app::paint::Outline>(scene, [&](Layer layer, const app::paint::Outline& drawn) {
    outline = outline || (layer == Layer::kMarks && std::abs(drawn.rect.center_x() - boxes[1].rect.center_x()) <= 1);
  });
  CHECK(line);
  CHECK(head);
  CHECK(outline);
}

TEST_CASE("marks of lanes have a contrast of 3:1 or such an outline, and their text 4.5:1, in every theme") {
  for (const app::paint::Palette* palette : {&app::paint::kLight, &app::paint::kDark, &app::paint::kHighContrast}) {
    for (const Work work : {Work::kOurs, Work::kProduct, Work::kOther, Work::kMove, Work::kHost, Work::kZone}) {
      lessons::FigureData figure = two_runs();
      lessons::Lanes& panel = std::get<lessons::Lanes>(figure.panels[0]);
      panel.lanes = {{.label = "Kernel", .note = "", .boxes = {TimeBox{0, 1'000'000, work, 1, 0, "matmul", "tip"}}}};
      Frame frame = frames().front();
      frame.palette = palette;
      const Scene scene = layout(figure, frame);
      const std::vector<Fill> boxes = boxes_of(scene);
      REQUIRE(boxes.size() == 1);
      double seen = contrast(boxes[0].color, palette->well);
      each<app::paint::Outline>(scene, [&](Layer layer, const app::paint::Outline& outline) {
        if (layer == Layer::kBars) seen = std::max(seen, contrast(outline.color, palette->well));
      });
      CHECK(seen >= 3);
      bool named = false;
      each<app::paint::Text>(scene, [&](Layer layer, const app::paint::Text& text) {
        if (layer != Layer::kLabels || text.text != "matmul") return;
        named = true;
        CHECK(contrast(text.color, boxes[0].color) >= 4.5);
      });
      CHECK(named);
    }
  }
}

TEST_CASE("a chart below lanes has their time axis") {
  lessons::FigureData figure = two_runs();
  const lessons::Axis x = std::get<lessons::Lanes>(figure.panels[0]).x;
  lessons::Chart chart{.title = "Sent", .x = x, .y = {.high = 1024}, .stacked = true};
  chart.series.push_back({.label = "sums"});
  for (const double at : {0.0, 500'000.0, 1'000'000.0})
    chart.series.back().points.push_back(lessons::exact_point(at, 512, at == 500'000 ? "half of the step" : ""));
  figure.add(std::move(chart));
  int drawn = 0;
  for (const Frame& frame : frames()) {
    const Scene scene = layout(figure, frame);
    for (const app::paint::HitArea& area : scene.hits) {
      if (area.tip != "half of the step") continue;
      CHECK(area.rect.center_x() == Approx(scene.map.x_px(500'000)).margin(0.1));
      ++drawn;
    }
  }
  CHECK(drawn > 1);
}
