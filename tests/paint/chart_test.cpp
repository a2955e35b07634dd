// Bars beside a reference: its name stands on neither a bar nor a number.
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

// Forms of eight kernels; the sixth and the last pass the reference.
lessons::FigureData parts_of_copy() {
  lessons::FigureData figure;
  figure.id = "bench_bandwidth";
  figure.title = "Bandwidth";
  figure.provenance_line = "Example GPU";
  lessons::Chart chart;
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
  figure.charts.push_back(std::move(chart));
  return figure;
}

}  // namespace

TEST_CASE("the name of a reference keeps off bars and their numbers") {
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
    if (names.empty() || frame.width < 600) continue;  // there is no other place on a narrow one
    REQUIRE(bars.size() >= 8);
    CHECK_FALSE(numbers.empty());
    for (const Rect& bar : bars) CHECK_FALSE(bar.meets(names.front()));
    for (const Rect& number : numbers) CHECK_FALSE(number.meets(names.front()));
  }
  const app::paint::Scene screen = app::paint::layout(figure, frames().front());
  const auto said = texts_of(screen, Layer::kLabels);
  CHECK(std::count(said.begin(), said.end(), kReference) == 1);
}

TEST_CASE("a guess on an axis of decades stands where its value is, and on no number") {
  lessons::FigureData figure = parts_of_copy();
  figure.charts[0].y = {.unit = lessons::AxisUnit::kBytesPerSecond, .low = 1e9, .high = 1e13, .logarithmic = true};
  for (lessons::ChartPoint& point : figure.charts[0].series[0].points) point.y = point.low = point.high = 5e10;
  figure.charts[0].series[0].points[3].y = 1e9;  // the only gap in a row of bars
  figure.guess = 3e10;
  const app::paint::Scene scene = app::paint::layout(figure, frames()[0]);
  REQUIRE(scene.guess);
  const auto& map = scene.map;
  CHECK(map.y_px(1e11) == Approx((map.plot.y0 + map.plot.y1) / 2).margin(1));  // half of the decades
  CHECK(map.y_at(map.y_px(3e10)) == Approx(3e10));
  CHECK(scene.guess->contains({scene.guess->center_x(), map.y_px(3e10)}));
  const auto labels = texts_of(scene, Layer::kLabels);
  CHECK(std::count(labels.begin(), labels.end(), "your guess 30.0 GB/s") == 1);
  figure.guess = 3.9e11;  // no decimals beyond a hundred
  const auto more = texts_of(app::paint::layout(figure, frames()[0]), Layer::kLabels);
  CHECK(std::count(more.begin(), more.end(), "your guess 390 GB/s") == 1);
}
