// A reference's name in a bar chart covers neither bars nor numbers.
#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "tests/paint/support.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::paint::Frame;
using app::paint::Layer;
using app::paint::Rect;

namespace {

constexpr const char* kReference = "a copy of as many bytes, up to 4.27 TB/s";

// Eight kernels; the sixth and the last exceed the reference.
lessons::FigureData parts_of_copy() {
  lessons::FigureData figure;
  figure.head.id = "bench_bandwidth";
  figure.head.title = "Bandwidth";
  figure.head.provenance_line = "Example GPU";
  lessons::Chart chart;
  chart.asked = true;
  chart.bars = true;
  chart.joined = false;
  chart.x = {.unit = lessons::AxisUnit::kCategory, .low = -0.5, .high = 7.5};
  chart.y = {.unit = lessons::AxisUnit::kPercent, .low = 0, .high = 112};
  chart.references.push_back({.label = kReference, .x = {-0.5, 7.5}, .y = {100, 100}});
  lessons::ChartSeries series{.label = "fused", .kind = lessons::SeriesKind::kFused};
  for (int i = 0; i < 8; ++i) {
    chart.categories.push_back("Kernel " + std::to_string(i));
    const double part = i == 5 || i == 7 ? 101 : i == 0 ? 99.5 : 60 + 4 * i;
    series.points.push_back({.x = static_cast<double>(i),
                             .y = part,
                             .low = part,
                             .high = part,
                             .label = std::to_string(static_cast<int>(part))});
  }
  chart.series.push_back(std::move(series));
  figure.panels.emplace_back(std::move(chart));
  return figure;
}

lessons::Chart& chart_in(lessons::FigureData& figure) { return std::get<lessons::Chart>(figure.panels.front()); }

}  // namespace

TEST_CASE("the name of a reference avoids bars and their numbers") {
  const lessons::FigureData figure = parts_of_copy();
  for (const Frame& frame : frames()) {
    CAPTURE(frame.width, frame.height, frame.scale);
    const app::paint::Scene scene = app::paint::layout(figure, frame);
    std::vector<Rect> bars, numbers, names;
    each<app::paint::Fill>(scene, [&](Layer layer, const app::paint::Fill& fill) {
      if (layer == Layer::kBars) bars.push_back(fill.rect);
    });
    each<app::paint::Text>(scene, [&](Layer layer, const app::paint::Text& text) {
      if (layer != Layer::kLabels) return;
      if (text.text == kReference) names.push_back(text.box);
      if (std::isdigit(static_cast<unsigned char>(text.text.front())) != 0) numbers.push_back(text.box);
    });
    if (names.empty() || frame.width < 600) continue;  // in narrow frames, the name has no other place
    REQUIRE(bars.size() >= 8);
    CHECK_FALSE(numbers.empty());
    for (const Rect& bar : bars) CHECK_FALSE(bar.meets(names.front()));
    for (const Rect& number : numbers) CHECK_FALSE(number.meets(names.front()));
  }
  const app::paint::Scene screen = app::paint::layout(figure, frames().front());
  const auto said = texts_of(screen, Layer::kLabels);
  CHECK(std::count(said.begin(), said.end(), kReference) == 1);
}

TEST_CASE("category names are cut only if they would overlap, and bars are centered on their category") {
  lessons::FigureData figure = parts_of_copy();
  lessons::Chart& chart = chart_in(figure);
  chart.references.clear();
  chart.categories = {"RMSNorm", "residual", "RoPE", "SwiGLU", "loss", "embedding", "AdamW", "attention"};
  chart.series.push_back({.label = "eager", .kind = lessons::SeriesKind::kEager, .points = {{.x = 3, .y = 50}}});
  Frame frame = frames().front();
  frame.width = 350;  // narrower than the longest name
  const app::paint::Scene scene = app::paint::layout(figure, frame);
  const auto said = texts_of(scene, Layer::kAxes);
  for (const std::string& name : chart.categories) CHECK(std::count(said.begin(), said.end(), name) == 1);
  const Rect* area = nullptr;
  std::vector<Rect> hits;
  for (const auto& hit : scene.hits)
    if (hit.tip.empty()) hits.push_back(hit.rect);
  REQUIRE(hits.size() == 9);
  area = &hits.front();
  // The first kernel has one bar, the fourth two, each centered in its slot.
  const float pitch = (hits[7].center_x() - hits[0].center_x()) / 7;
  CHECK((hits[3].x0 + hits[8].x1) / 2 == Approx(area->center_x() + 3 * pitch).margin(2));
}

TEST_CASE("the number over the highest bar is drawn") {
  lessons::FigureData figure = parts_of_copy();
  lessons::Chart& chart = chart_in(figure);
  chart.references.clear();
  chart.y.high = 110;
  chart.series[0].points[5].label = "highest";
  chart.series[0].points[5].y = chart.series[0].points[5].high = 100;
  Frame frame = frames().front();
  frame.height = 170;
  const auto said = texts_of(app::paint::layout(figure, frame), Layer::kLabels);
  CHECK(std::count(said.begin(), said.end(), "highest") == 1);
}

TEST_CASE("the guess line crosses no number") {
  lessons::FigureData figure = parts_of_copy();
  chart_in(figure).references.clear();
  figure.head.guess = 65;
  chart_in(figure).series[0].points[2].y = chart_in(figure).series[0].points[2].high = 62;
  chart_in(figure).series[0].points[2].label = "sixty-two";
  const app::paint::Scene scene = app::paint::layout(figure, frames().front());
  Rect box{};
  each<app::paint::Text>(scene, [&](Layer, const app::paint::Text& text) {
    if (text.text == "sixty-two") box = text.box;
  });
  REQUIRE(box.height() > 0);
  int guesses = 0;
  each<app::paint::Polyline>(scene, [&](Layer layer, const app::paint::Polyline& line) {
    if (layer != Layer::kMarks || line.dash == 0) return;
    ++guesses;
    CHECK((line.points.front().y <= box.y0 || line.points.front().y >= box.y1));
  });
  CHECK(guesses == 1);
}

TEST_CASE("a guess on a logarithmic axis is at its value and on no number") {
  lessons::FigureData figure = parts_of_copy();
  chart_in(figure).y = {.unit = lessons::AxisUnit::kBytesPerSecond,
                        .low = 1e9,
                        .high = 1e13,
                        .logarithmic = true,
                        .shown = lessons::rate_unit(0)};
  for (lessons::ChartPoint& point : chart_in(figure).series[0].points) point.y = point.low = point.high = 5e10;
  chart_in(figure).series[0].points[3].y = 1e9;  // a bar without height: the only gap between bars
  figure.head.guess = 3e10;
  figure.head.guess_open = true;
  const app::paint::Scene scene = app::paint::layout(figure, frames()[0]);
  REQUIRE(scene.guess);
  const auto& map = scene.map;
  CHECK(map.y_px(1e11) == Approx((map.plot.y0 + map.plot.y1) / 2).margin(1));  // half of the decades
  CHECK(map.y_at(map.y_px(3e10)) == Approx(3e10));
  CHECK(scene.guess->contains({scene.guess->center_x(), map.y_px(3e10)}));
  const auto labels = texts_of(scene, Layer::kLabels);
  CHECK(std::count(labels.begin(), labels.end(), "your guess 30.0 GB/s") == 1);
  figure.head.guess = 3.9e11;  // no decimals from 100 on
  const auto more = texts_of(app::paint::layout(figure, frames()[0]), Layer::kLabels);
  CHECK(std::count(more.begin(), more.end(), "your guess 390 GB/s") == 1);
}

TEST_CASE("the pill without a guess is at the low end of the axis, without number and line") {
  lessons::FigureData figure = parts_of_copy();
  chart_in(figure).references.clear();
  figure.head.guess_open = true;
  const app::paint::Scene scene = app::paint::layout(figure, frames()[0]);
  REQUIRE(scene.guess);
  CHECK(scene.guess->inside(scene.map.plot));
  CHECK(scene.guess->y1 == Approx(scene.map.plot.y1).margin(1));
  const auto labels = texts_of(scene, Layer::kLabels);
  CHECK(std::count(labels.begin(), labels.end(), "drag to guess") == 1);
  each<app::paint::Polyline>(scene, [&](Layer layer, const app::paint::Polyline& line) {
    if (layer == Layer::kMarks) CHECK(line.dash == 0);
  });
}
