#include "app/paint/scene/stack.h"

#include <algorithm>
#include <cmath>

namespace headroom::app::paint {
namespace {

using lessons::StackColumn;

record::Bytes total(const StackColumn& column) { return record::total(column.high); }

// The column shown at each pixel; null if none.
std::vector<const StackColumn*> column_of_pixel(const lessons::Timeline& timeline, const PlotMap& map) {
  std::vector<const StackColumn*> shown(pixels_in(map), nullptr);
  for (const StackColumn& column : timeline.stack) {
    const PixelRange pixels = pixels_of(map, column.begin, column.end);
    for (std::size_t i = pixels.first; i < pixels.last; ++i) {
      if (shown[i] == nullptr || total(column) > total(*shown[i])) shown[i] = &column;
    }
  }
  return shown;
}

// Appends `column`, or widens the last column if both look the same and touch.
void append(std::vector<PxColumn>& columns, const PxColumn& column) {
  if (column.x1 <= column.x0) return;
  const auto looks_like = [&](const PxColumn& other) { return other.y == column.y && other.passing == column.passing; };
  if (!columns.empty() && looks_like(columns.back()) && column.x0 - columns.back().x1 < 0.005f) {
    columns.back().x1 = column.x1;
  } else {
    columns.push_back(column);
  }
}

}  // namespace

std::size_t pixels_in(const PlotMap& map) {
  return static_cast<std::size_t>(std::max(0.0f, std::round(map.plot.width())));
}

PixelRange pixels_of(const PlotMap& map, double begin, double end) {
  const std::size_t pixels = pixels_in(map);
  const auto pixel = [&](double x) {
    const float at = std::round(map.x_px(x) - map.plot.x0);
    return static_cast<std::size_t>(std::clamp(at, 0.0f, static_cast<float>(pixels)));
  };
  const std::size_t first = std::min(pixel(begin), pixels == 0 ? 0 : pixels - 1);
  return {first, std::max(pixel(end), std::min(first + 1, pixels))};
}

std::vector<PxColumn> px_columns(const lessons::Timeline& timeline, const PlotMap& map, bool whole_pixels) {
  std::vector<PxColumn> columns;
  const auto at = [&](float x0, float x1, const StackColumn& column) {
    PxColumn px{.x0 = x0, .x1 = x1, .y = {}, .passing = {}, .source = &column};
    const auto y_of = [&](double bytes) {
      const float y = std::clamp(map.y_px(bytes), map.plot.y0, map.plot.y1);
      return whole_pixels ? std::round(y) : y;
    };
    double sum = 0;
    for (std::size_t k = 0; k < column.high.size(); ++k) {
      px.y[k] = y_of(sum);
      sum += static_cast<double>(column.high[k]);
      px.passing[k] = y_of(sum - static_cast<double>(column.passing[k]));
    }
    px.y.back() = y_of(sum);
    return px;
  };
  if (whole_pixels) {
    const auto shown = column_of_pixel(timeline, map);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const float x = map.plot.x0 + static_cast<float>(i);
      if (shown[i] != nullptr && i > 0 && shown[i] == shown[i - 1]) {
        columns.back().x1 = x + 1;
      } else if (shown[i] != nullptr) {
        append(columns, at(x, x + 1, *shown[i]));
      }
    }
    return columns;
  }
  for (const StackColumn& column : timeline.stack) {
    const auto x = [&](double value) { return std::clamp(map.x_px(value), map.plot.x0, map.plot.x1); };
    append(columns, at(x(column.begin), x(column.end), column));
  }
  return columns;
}

Rect clearance(const std::vector<PxColumn>& columns, int kind, float x, float width) {
  auto column =
      std::lower_bound(columns.begin(), columns.end(), x, [](const PxColumn& c, float at) { return c.x1 <= at; });
  if (column == columns.end() || column->x0 > x || columns.back().x1 < x + width) return {};
  Rect room = column->of(kind);
  for (; column != columns.end() && column->x0 < x + width; ++column) {
    room.y0 = std::max(room.y0, column->of(kind).y0);
    room.y1 = std::min(room.y1, column->of(kind).y1);
  }
  if (room.y1 <= room.y0) return {};
  return {x, room.y0, x + width, room.y1};
}

}  // namespace headroom::app::paint
