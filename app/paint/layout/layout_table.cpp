// A table: names with a line of explanation on the left, numbers under heads on the right.
#include <algorithm>
#include <vector>

#include "app/paint/layout/sheet.h"

namespace headroom::app::paint {
namespace {

using lessons::Table;
using lessons::TableRow;

constexpr Type kHeadType{Face::kMedium, 12}, kName{Face::kMedium, 13}, kCell{Face::kSemiBold, 13},
    kNote{Face::kRegular, 12};
constexpr float kHeadHeight = 26, kFootHeight = 28;  // px at scale 1, as all below
constexpr float kLeastRow = 34, kMostRow = 54;       // with a line of explanation
constexpr float kLeastPlainRow = 22, kPlainRow = 42;

bool has_notes(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(), [](const TableRow& row) { return !row.note.empty(); });
}
float least_row(const Table& table) { return has_notes(table) ? kLeastRow : kLeastPlainRow; }

// Right ends of the columns, and where the names end. Columns before `first` have no room.
struct TableColumns {
  std::vector<float> ends;
  std::size_t first = 0;
  float names_end = 0;
};

float widest_name(const Sheet& sheet, const Table& table) {
  float widest = sheet.width(kHeadType, table.head);
  for (const TableRow& row : table.rows)
    widest = std::max(widest, sheet.width(kName, row.name) + (row.category ? sheet.px(20) : 0));
  return widest;
}

// Names keep two fifths of a narrow table: a number without its name says nothing. The last columns are the results, so the first
// ones go.
TableColumns columns_of(const Sheet& sheet, const Table& table, Rect area) {
  TableColumns columns;
  const std::size_t count = table.columns.size();
  std::vector<float> widths(count);
  for (std::size_t i = 0; i < count; ++i) {
    widths[i] = sheet.width(kHeadType, table.columns[i]);
    for (const TableRow& row : table.rows)
      if (i < row.cells.size()) widths[i] = std::max(widths[i], sheet.width(kCell, row.cells[i]));
  }
  const float names = std::min(widest_name(sheet, table), 0.4f * area.width());
  float gap = sheet.px(20);
  const auto needed = [&] {
    float sum = names;
    for (std::size_t i = columns.first; i < count; ++i) sum += gap + widths[i];
    return sum;
  };
  if (needed() > area.width()) gap = sheet.px(12);
  while (columns.first + 1 < count && needed() > area.width()) ++columns.first;
  columns.ends.resize(count);
  float x = area.x1;
  for (std::size_t i = count; i-- > columns.first;) {
    columns.ends[i] = x;
    x -= widths[i] + gap;
  }
  columns.names_end = count == 0 ? area.x1 : x;
  return columns;
}

}  // namespace

Heights heights_of(const Sheet& sheet, const Table& table) {
  const float rest = kHeadHeight + (table.foot.empty() ? 0 : kFootHeight), rows = static_cast<float>(table.rows.size());
  return {sheet.px(rest + rows * least_row(table)), sheet.px(rest + rows * (has_notes(table) ? kMostRow : kPlainRow))};
}

void lay_out_table(Sheet& sheet, const Table& table, Rect area) {
  const Palette& palette = sheet.palette();
  const float line = sheet.line_px(1), head = sheet.px(kHeadHeight);
  const float foot = table.foot.empty() ? 0 : sheet.px(kFootHeight);
  const TableColumns columns = columns_of(sheet, table, area);
  const float words_end = columns.names_end;
  float y = area.y0;
  sheet.text_mid(Layer::kBars, kHeadType, palette.text2, sheet.shortened(kHeadType, table.head, words_end - area.x0), area.x0,
                 y + head * 0.5f);
  for (std::size_t i = columns.first; i < table.columns.size(); ++i)
    sheet.text_mid(Layer::kBars, kHeadType, palette.text2, table.columns[i], columns.ends[i], y + head * 0.5f,
                   Anchor::kEnd);
  y += head;
  sheet.horizontal(Layer::kBars, area.x0, area.x1, sheet.snap(y), palette.control, line);
  const auto rows = static_cast<float>(std::max<std::size_t>(1, table.rows.size()));
  const float height = std::clamp((area.y1 - foot - y) / rows, sheet.px(least_row(table)), sheet.px(kMostRow));
  for (const TableRow& row : table.rows) {
    if (y + height > area.y1 - foot + 1) break;
    const float indent = row.category ? sheet.px(20) : 0;
    const float name_y = y + height * 0.5f - (row.note.empty() ? 0 : sheet.px(8));
    if (row.category) {
      const float size = sheet.px(10), top = sheet.snap(name_y - size * 0.5f);
      lay_out_swatch(sheet, Layer::kBars, {area.x0, top, area.x0 + size, top + size}, *row.category);
    }
    const float room = words_end - area.x0 - indent;
    sheet.text_mid(Layer::kBars, kName, palette.text, sheet.shortened(kName, row.name, room), area.x0 + indent, name_y);
    if (!row.note.empty())
      sheet.text_mid(Layer::kBars, kNote, palette.text2, sheet.shortened(kNote, row.note, room), area.x0 + indent,
                     y + height * 0.5f + sheet.px(9));
    for (std::size_t i = columns.first; i < row.cells.size() && i < columns.ends.size(); ++i)
      sheet.text_mid(Layer::kBars, kCell, palette.text, row.cells[i], columns.ends[i], y + height * 0.5f, Anchor::kEnd);
    sheet.scene().hits.push_back({{area.x0, y, area.x1, y + height}, row.category, joined(row.tip, ". ", row.note)});
    y += height;
    sheet.horizontal(Layer::kBars, area.x0, area.x1, sheet.snap(y), palette.hairline, line);
  }
  if (!table.foot.empty())
    sheet.text_mid(Layer::kBars, kNote, palette.text2, sheet.shortened(kNote, table.foot, area.width()), area.x0,
                   y + foot * 0.5f + sheet.px(2));
}

}  // namespace headroom::app::paint
