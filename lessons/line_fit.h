// A straight line through points by least squares.
#pragma once

#include <optional>
#include <span>

namespace headroom::lessons {

struct LinePoint {
  double x = 0, y = 0;
};

struct LineFit {
  double at_zero = 0;  // y where x is 0
  double slope = 0;    // y per x

  double at(double x) const { return at_zero + slope * x; }
};

// Nothing: fewer than two places.
inline std::optional<LineFit> fit_line(std::span<const LinePoint> points) {
  double x = 0, y = 0;
  for (const LinePoint& point : points) {
    x += point.x / static_cast<double>(points.size());
    y += point.y / static_cast<double>(points.size());
  }
  double squares = 0, products = 0;
  for (const LinePoint& point : points) {
    squares += (point.x - x) * (point.x - x);
    products += (point.x - x) * (point.y - y);
  }
  if (!(squares > 0)) return std::nullopt;
  const double slope = products / squares;
  return LineFit{y - slope * x, slope};
}

}  // namespace headroom::lessons
