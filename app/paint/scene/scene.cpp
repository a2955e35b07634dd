#include "app/paint/scene/scene.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::app::paint {
namespace {

void append(std::vector<Point>& points, Point p) {
  if (!points.empty() && points.back() == p) return;
  if (points.size() >= 2 && points[points.size() - 2].y == points.back().y && points.back().y == p.y) {
    points.back() = p;  // extends the same edge
  } else {
    points.push_back(p);
  }
}

}  // namespace

std::string_view name_of(Layer layer) {
  static constexpr std::array<std::string_view, 12> kNames{"ground", "stack", "lines",  "hidden", "marks",  "labels",
                                                           "axes",   "bands", "header", "list",   "levels", "bars"};
  return kNames.at(static_cast<std::size_t>(layer));
}

std::vector<std::vector<Point>> outlines_of(const std::vector<Rect>& rects) {
  std::vector<std::vector<Point>> shapes;
  for (std::size_t begin = 0; begin < rects.size();) {
    std::size_t end = begin + 1;
    while (end < rects.size() && rects[end].x0 - rects[end - 1].x1 < 0.005f) ++end;
    std::vector<Point> shape;
    for (std::size_t i = begin; i < end; ++i) {
      append(shape, {rects[i].x0, rects[i].y0});
      append(shape, {rects[i].x1, rects[i].y0});
    }
    for (std::size_t i = end; i-- > begin;) {
      append(shape, {rects[i].x1, rects[i].y1});
      append(shape, {rects[i].x0, rects[i].y1});
    }
    shapes.push_back(std::move(shape));
    begin = end;
  }
  return shapes;
}

double luminance(Color color) {
  const auto linear = [](std::uint8_t channel) {
    const double v = channel / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
}

double contrast(Color a, Color b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace headroom::app::paint
