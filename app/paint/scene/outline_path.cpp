#include "app/paint/scene/outline_path.h"

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

}  // namespace headroom::app::paint
