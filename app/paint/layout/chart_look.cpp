// The fused form is drawn in ink, its baselines in gray, because color is reserved for memory.
#include "app/paint/layout/chart_layout.h"

#include <utility>

#include "app/paint/layout/plot_parts.h"

namespace headroom::app::paint {

using lessons::Chart;
using lessons::ChartSeries;
using lessons::SeriesKind;

namespace {

constexpr HatchRule kWideHatch{5, 1.4f, 1};

}  // namespace

std::vector<Look> looks_of(const Chart& chart) {
  std::vector<Look> looks;
  for (const ChartSeries& series : chart.series) {
    Look look{series.kind, series.published, 0, series.category};
    for (const Look& other : looks) {
      look.turn += other.kind == look.kind && other.published == look.published;
      look.hatched = look.hatched || (look.category && other.category == look.category);
    }
    looks.push_back(look);
  }
  return looks;
}

Color line_color(const Palette& palette, const Look& look) {
  if (look.published) return palette.text3;
  if (look.kind == SeriesKind::kFused) return palette.ink;
  return look.kind == SeriesKind::kEager ? palette.control : palette.text2;
}

void lay_out_box(Sheet& sheet, const Rect& rect, const Look& look) {
  if (look.category) {
    lay_out_kind(sheet, rect, *look.category);
    if (look.hatched) sheet.hatch(Layer::kBars, {rect}, sheet.palette().of(*look.category).edge, kWideHatch);
    return;
  }
  const Palette& palette = sheet.palette();
  const float width = sheet.line_px(1);
  const Color color = line_color(palette, look);
  const bool solid = !look.published && look.turn == 0;
  if (solid && look.kind == SeriesKind::kFused) return sheet.fill(Layer::kBars, rect, palette.ink);
  if (solid && look.kind == SeriesKind::kOther) return sheet.fill(Layer::kBars, rect, palette.text3);
  if (rect.width() <= 2 * width || rect.height() <= 2 * width) return sheet.fill(Layer::kBars, rect, color);
  if (solid && look.kind == SeriesKind::kEager) sheet.fill(Layer::kBars, rect, palette.phase[3]);
  if (look.turn == 1) sheet.hatch(Layer::kBars, {rect}, color, kWideHatch);
  if (look.kind == SeriesKind::kLibrary && !look.published) sheet.hatch(Layer::kBars, {rect}, color, {9, 1, 0.8f});
  sheet.inside(Layer::kBars, rect, color, width, 0, {look.published ? sheet.px(3) : 0});
}

void lay_out_mark(Sheet& sheet, Point at, const Look& look) {
  const Palette& palette = sheet.palette();
  const Color color = line_color(palette, look);
  const float radius = sheet.frame().scale * 4, width = sheet.line_px(1.5f);
  const Color fill = look.published || look.turn > 0 ? palette.well : color;
  if (look.kind == SeriesKind::kFused) {
    sheet.add(Layer::kMarks,
              Disc{.center = at, .radius = radius, .fill = fill, .stroke = color, .stroke_width = width});
    return;
  }
  const float half = look.kind == SeriesKind::kLibrary ? radius * 0.6f : radius * 0.9f;
  const Rect rect{at.x - half, at.y - half, at.x + half, at.y + half};
  sheet.fill(Layer::kMarks, rect, fill);
  sheet.outline(Layer::kMarks, rect, color, width);
}

void lay_out_line(Sheet& sheet, std::vector<Point> points, const Look& look) {
  const bool fused = look.kind == SeriesKind::kFused && !look.published;
  const float dash = look.published ? 3.0f : look.kind == SeriesKind::kLibrary ? 5.0f : look.turn > 0 ? 8.0f : 0.0f;
  const float width = fused ? 2 : look.published ? 1 : 1.5f;
  sheet.line(Layer::kLines, std::move(points), line_color(sheet.palette(), look), sheet.line_px(width),
             {sheet.px(dash), sheet.px(dash * 0.7f)});
}

}  // namespace headroom::app::paint
