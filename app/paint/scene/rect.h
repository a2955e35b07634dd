// Points and rectangles in px; x points right, y down.
#pragma once

#include <algorithm>

namespace headroom::app::paint {

// Clamps; `low` wins if the range is empty.
inline float kept_within(float value, float low, float high) { return std::max(low, std::min(value, high)); }

struct Point {
  float x = 0, y = 0;

  bool operator==(const Point&) const = default;
};

struct Rect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;

  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
  float center_x() const { return (x0 + x1) * 0.5f; }
  float center_y() const { return (y0 + y1) * 0.5f; }
  bool contains(Point p) const { return p.x >= x0 && p.x < x1 && p.y >= y0 && p.y < y1; }
  bool meets(const Rect& o) const { return x0 < o.x1 && o.x0 < x1 && y0 < o.y1 && o.y0 < y1; }
  bool inside(const Rect& o) const { return x0 >= o.x0 && x1 <= o.x1 && y0 >= o.y0 && y1 <= o.y1; }
  bool operator==(const Rect&) const = default;

  Rect inset(float all) const { return inset(all, all); }
  Rect inset(float horizontal, float vertical) const {
    return {x0 + horizontal, y0 + vertical, x1 - horizontal, y1 - vertical};
  }
  Rect moved(Point by) const { return {x0 + by.x, y0 + by.y, x1 + by.x, y1 + by.y}; }
  // Cuts a strip off one side and returns it.
  Rect cut_top(float height) {
    const Rect strip = top(height);
    y0 = strip.y1;
    return strip;
  }
  Rect cut_bottom(float height) {
    const Rect strip{x0, std::max(y0, y1 - height), x1, y1};
    y1 = strip.y0;
    return strip;
  }
  Rect cut_left(float width) {
    const Rect strip = left(width);
    x0 = strip.x1;
    return strip;
  }
  Rect cut_right(float width) {
    const Rect strip = right(width);
    x1 = strip.x0;
    return strip;
  }
  // Returns the strip without cutting it off.
  Rect top(float height) const { return {x0, y0, x1, std::min(y1, y0 + height)}; }
  Rect left(float width) const { return {x0, y0, std::min(x1, x0 + width), y1}; }
  Rect right(float width) const { return {std::max(x0, x1 - width), y0, x1, y1}; }
};

}  // namespace headroom::app::paint
