// One horizontal bar per kind of memory, largest first.
#include <algorithm>

#include "app/paint/layout/sheet.h"

namespace headroom::app::paint {
namespace {

using lessons::Bar;

constexpr Type kName{Face::kMedium, 13}, kValue{Face::kSemiBold, 13}, kNote{Face::kRegular, 12};

// Each column is as wide as its widest entry.
struct BarColumns {
  float from = 0, to = 0;  // ends of the bars
  float value_x = 0;       // right end of the values
  float note_x = 0;        // left end of the notes
};

BarColumns columns_for(const Sheet& sheet, const std::vector<Bar>& bars, Rect area) {
  float names = 0, values = 0, notes = 0;
  for (const Bar& bar : bars) {
    names = std::max(names, sheet.width(kName, bar.label));
    values = std::max(values, sheet.width(kValue, bar.value_text));
    notes = std::max(notes, sheet.width(kNote, bar.note));
  }
  const float gap = sheet.px(12);
  BarColumns columns;
  columns.from = sheet.snap(area.x0 + names + gap);
  const float with_notes = values + notes + 2 * gap;
  const bool room = area.x1 - columns.from - with_notes >= sheet.px(120);
  columns.note_x = room ? area.x1 - notes : area.x1 + 1;
  columns.value_x = room ? columns.note_x - gap : area.x1;
  columns.to = sheet.snap(columns.value_x - values - gap);
  return columns;
}

void lay_out_bar(Sheet& sheet, const Bar& bar, const BarColumns& columns, double axis_high, Rect row) {
  const Palette& palette = sheet.palette();
  const float middle = row.center_y(), half = std::min(sheet.px(12), row.height() * 0.36f);
  sheet.text_mid(Layer::kBars, kName, palette.text, bar.label, row.x0, middle);
  const float length = static_cast<float>(bar.value / axis_high) * (columns.to - columns.from);
  const Rect rect{columns.from, sheet.snap(middle - half),
                  columns.from + std::max(sheet.snap(length), sheet.line_px(2)), sheet.snap(middle + half)};
  lay_out_kind(sheet, rect, bar.category, std::min(sheet.px(2), rect.width() * 0.5f));
  if (bar.baseline) {
    const float length_then = static_cast<float>(*bar.baseline / axis_high) * (columns.to - columns.from);
    const Rect before{columns.from, rect.y0 - sheet.px(3),
                      columns.from + std::max(sheet.snap(length_then), sheet.line_px(2)), rect.y1 + sheet.px(3)};
    sheet.outline(Layer::kBars, before, palette.text3, sheet.line_px(1.5f));
  }
  sheet.text_mid(Layer::kBars, kValue, palette.text, bar.value_text, columns.value_x, middle, Anchor::kEnd);
  if (columns.note_x < row.x1) sheet.text_mid(Layer::kBars, kNote, palette.text2, bar.note, columns.note_x, middle);
  sheet.scene().hits.push_back({row, bar.category, joined(bar.label, ", ", bar.note)});
}

std::vector<std::string> notes_of(const std::vector<Bar>& bars) {
  std::vector<std::string> notes;
  for (const Bar& bar : bars)
    if (!bar.note.empty()) notes.push_back(joined(bar.label, ": ", bar.note));
  return notes;
}

std::vector<std::string> left_out(const std::vector<Bar>& bars, const std::vector<Line>& lines) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < bars.size(); ++i)
    if (std::ranges::find(lines, Line(i)) == lines.end())
      names.push_back(joined(joined(bars[i].label, ": ", bars[i].value_text), ", ", bars[i].note));
  return names;
}

}  // namespace

void lay_out_kind(Sheet& sheet, const Rect& rect, record::Category category, float radius) {
  const KindColors& kind = sheet.palette().of(category);
  const float width = sheet.line_px(1);
  const bool thin = rect.width() <= 2 * width || rect.height() <= 2 * width;  // only its outline fits
  sheet.fill(Layer::kBars, rect, kind.outlined && thin ? kind.edge : kind.fill, radius);
  if (kind.hatched) sheet.hatch(Layer::kBars, {rect}, kind.edge, kKindHatch);
  if (kind.outlined && !thin) sheet.inside(Layer::kBars, rect, kind.edge, width, radius);
}

void lay_out_swatch(Sheet& sheet, Layer layer, const Rect& rect, record::Category category) {
  const KindColors& kind = sheet.palette().of(category);
  sheet.fill(layer, rect, kind.fill, sheet.px(2));
  if (kind.hatched) sheet.hatch(layer, {rect}, kind.edge, {4, kKindHatch.width, kKindHatch.opacity});
  if (kind.outlined) sheet.inside(layer, rect, kind.edge, sheet.line_px(1), sheet.px(2));
}

void lay_out_panel(Sheet& sheet, const lessons::Bars& panel, Rect area) {
  const Palette& palette = sheet.palette();
  const Rect total = sheet.text(Layer::kBars, {Face::kSemiBold, 13}, palette.text, panel.total_label, area.x0, area.y0);
  area.y0 += sheet.px(30);
  const float least = sheet.px(15);
  const float pitch = std::clamp(area.height() / static_cast<float>(panel.bars.size()), least, sheet.px(44));
  const BarColumns columns = columns_for(sheet, panel.bars, area);
  if (const std::vector<std::string> notes = notes_of(panel.bars); columns.note_x > area.x1 && !notes.empty())
    lay_out_more(sheet, Layer::kBars, {"column", notes, 1}, area.x1, total.center_y(), Anchor::kEnd);
  const auto most = static_cast<std::size_t>(std::max(1.0f, (area.height() + 1) / least));
  const std::vector<Line> lines = lines_of(panel.bars.size(), most, panel.bars.size() - 1);
  float y = area.y0;
  for (const Line& line : lines) {
    sheet.horizontal(Layer::kBars, area.x0, area.x1, sheet.snap(y), palette.hairline, sheet.line_px(1));
    const Rect row{area.x0, y, area.x1, y + pitch};
    if (line)
      lay_out_bar(sheet, panel.bars[*line], columns, panel.x.high, row);
    else
      lay_out_more(sheet, Layer::kBars, {"row", left_out(panel.bars, lines)}, row.x0, row.center_y());
    y += pitch;
  }
  sheet.vertical(Layer::kBars, columns.from - sheet.line_px(1), area.y0, y, palette.control, sheet.line_px(1));
}

}  // namespace headroom::app::paint
