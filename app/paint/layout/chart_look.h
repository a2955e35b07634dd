// The look of a chart's series as bar, mark or line.
#pragma once

#include <optional>
#include <vector>

#include "app/paint/layout/sheet.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

// `turn` counts series of one kind from 0.
struct Look {
  lessons::SeriesKind kind = lessons::SeriesKind::kOther;
  bool published = false;
  int turn = 0;
  std::optional<record::Category> category = {};
  bool hatched = false;  // an earlier series has the same category
};

std::vector<Look> looks_of(const lessons::Chart& chart);
Color line_color(const Palette& palette, const Look& look);

// Bars, marks and lines are also samples in legends.
void lay_out_box(Sheet& sheet, const Rect& rect, const Look& look);
// Hollow marks are published values or further series of a kind.
void lay_out_mark(Sheet& sheet, Point at, const Look& look);
void lay_out_line(Sheet& sheet, std::vector<Point> points, const Look& look);

}  // namespace headroom::app::paint
