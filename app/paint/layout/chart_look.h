// What a series of a chart looks like, as a bar, a mark or a line; legends show the same.
#pragma once

#include <optional>
#include <vector>

#include "app/paint/layout/sheet.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

// What a series looks like. `turn` counts series of one kind: 0 the first, 1 the second, …
struct Look {
  lessons::SeriesKind kind = lessons::SeriesKind::kOther;
  bool published = false;
  int turn = 0;
  std::optional<record::Category> category = {};
  bool hatched = false;  // a part of that kind, the other of which is plain
};

std::vector<Look> looks_of(const lessons::Chart& chart);
Color line_color(const Palette& palette, const Look& look);

// A bar, or a legend's sample of one.
void lay_out_box(Sheet& sheet, const Rect& rect, const Look& look);
// A mark, or a legend's sample of one. Filled: measured here; hollow: published elsewhere.
void lay_out_mark(Sheet& sheet, Point at, const Look& look);
void lay_out_line(Sheet& sheet, std::vector<Point> points, const Look& look);

}  // namespace headroom::app::paint
