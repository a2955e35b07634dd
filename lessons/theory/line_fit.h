// Least-squares fits: a line, and the larger of a constant and a line through zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>

namespace headroom::lessons {

struct LinePoint {
  double x = 0, y = 0;
};

struct LineFit {
  double at_zero = 0;  // y at x = 0
  double slope = 0;    // y per x

  double at(double x) const { return at_zero + slope * x; }
};

inline LinePoint mean_of(std::span<const LinePoint> points) {
  LinePoint mean;
  for (const LinePoint& point : points) {
    mean.x += point.x / static_cast<double>(points.size());
    mean.y += point.y / static_cast<double>(points.size());
  }
  return mean;
}

// Empty for fewer than two distinct x.
inline std::optional<LineFit> fit_line(std::span<const LinePoint> points) {
  const auto [x, y] = mean_of(points);
  double squares = 0, products = 0;
  for (const LinePoint& point : points) {
    squares += (point.x - x) * (point.x - x);
    products += (point.x - x) * (point.y - y);
  }
  if (!(squares > 0)) return std::nullopt;
  const double slope = products / squares;
  return LineFit{y - slope * x, slope};
}

struct LargerFit {
  double constant = 0;
  double slope = 0;

  double at(double x) const { return std::max(constant, slope * x); }
};

// Tries each split of the points (ascending x) into constant and line. Empty for fewer than two points.
inline std::optional<LargerFit> fit_larger(std::span<const LinePoint> points) {
  std::optional<LargerFit> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t flat = 1; flat < points.size(); ++flat) {
    LargerFit fit;
    for (const LinePoint& point : points.first(flat)) fit.constant += point.y / static_cast<double>(flat);
    double squares = 0, products = 0, off = 0;
    for (const LinePoint& point : points.subspan(flat)) {
      squares += point.x * point.x;
      products += point.x * point.y;
    }
    if (!(squares > 0)) continue;
    fit.slope = products / squares;
    for (const LinePoint& point : points) off += std::pow(fit.at(point.x) - point.y, 2);
    if (off < least) best = fit, least = off;
  }
  return best;
}

// The largest relative error at a point.
template <class Fit>
double worst_miss(const Fit& fit, std::span<const LinePoint> points) {
  double worst = 0;
  for (const LinePoint& point : points) worst = std::max(worst, std::abs(fit.at(point.x) / point.y - 1));
  return worst;
}

}  // namespace headroom::lessons
