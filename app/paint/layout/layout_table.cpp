// A table: names with notes on the left, numbers on the right.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/paint/layout/sheet.h"

namespace headroom::app::paint {
namespace {

using lessons::Table;
using lessons::TableRow;

constexpr Type kHeadType{Face::kMedium, 12}, kName{Face::kMedium, 13}, kCell{Face::kSemiBold, 13},
    kNote{Face::kRegular, 12};
constexpr float kHeadHeight = 26, kFootHeight = 28;  // px at scale 1, like all heights below
constexpr float kLeastRow = 34, kMostRow = 54;       // rows with notes
constexpr float kLeastPlainRow = 22, kPlainRow = 42;
constexpr float kLeastNote = 60;  // width of a note's beginning, next to its name

bool has_notes(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(), [](const TableRow& row) { return !row.note.empty(); });
}
float least_row(const Table& table) { return has_notes(table) ? kLeastRow : kLeastPlainRow; }

// Right ends of columns and names. Columns before `first` have no room and are counted in the head.
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

// Names get up to 40 % of the width, because a number without its name says nothing. Columns are dropped from the left,
// because the last ones are results.
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

namespace {

class TableLayout {
 public:
  TableLayout(Sheet& sheet, const Table& table, Rect area)
      : sheet_(sheet),
        palette_(sheet.palette()),
        table_(table),
        area_(area),
        columns_(columns_of(sheet, table, area)),
        foot_(table.foot.empty() ? 0 : sheet.px(kFootHeight)) {
    const float rows = static_cast<float>(std::max<std::size_t>(1, table.rows.size()));
    const float room = area.height() - foot_ - sheet.px(kHeadHeight);
    // Notes are dropped before rows.
    one_line_ = !has_notes(table) || room < rows * sheet.px(kLeastRow) - 1;
    notes_fit_ = notes_fit();
    const float least = sheet.px(one_line_ ? kLeastPlainRow : kLeastRow);
    height_ = std::clamp(room / rows, least, sheet.px(kMostRow));
    most_ = static_cast<std::size_t>(std::max(0.0f, (room + 1) / least));
    if (most_ == 1 && table.rows.size() > 1) most_ = 0;  // the mark for the others would need that row
  }

  void draw() {
    const std::vector<Line> lines = lines_of(table_.rows.size(), most_, table_.rows.size() - 1);
    head();
    float y = area_.y0 + sheet_.px(kHeadHeight);
    if (most_ > 0) {
      for (const Line& line : lines) {
        const Rect rect{area_.x0, y, area_.x1, y + height_};
        line ? row(table_.rows[*line], rect) : more(lines, rect);
        y += height_;
        sheet_.horizontal(Layer::kBars, area_.x0, area_.x1, sheet_.snap(y), palette_.hairline, sheet_.line_px(1));
      }
    }
    if (foot_ > 0)
      sheet_.text_cut(Layer::kBars, kNote, palette_.text2, table_.foot, area_.x0, y + foot_ * 0.5f + sheet_.px(2),
                      area_.width());
  }

 private:
  // Includes the mark if no row fits.
  void head() {
    const float middle = area_.y0 + sheet_.px(kHeadHeight) * 0.5f;
    if (most_ == 0) {
      std::vector<std::string> names;
      for (const TableRow& row : table_.rows) names.push_back(in_full(row));
      const Rect mark = lay_out_more(sheet_, Layer::kBars, {"row", names}, area_.x1, middle, Anchor::kEnd);
      const float room = mark.x0 - sheet_.px(8) - area_.x0;
      sheet_.text_cut(Layer::kBars, kHeadType, palette_.text2, table_.head, area_.x0, middle, room);
      return;
    }
    LeftOut left_out{
        .what = "column",
        .names = {table_.columns.begin(), table_.columns.begin() + static_cast<std::ptrdiff_t>(columns_.first)}};
    left_out.count = left_out.names.size();
    if (one_line_ && !notes_fit_) take_notes(left_out);
    const float mark = left_out.count == 0 ? 0 : more_width(sheet_, "column", left_out.count) + sheet_.px(8);
    const Rect said = sheet_.text_cut(Layer::kBars, kHeadType, palette_.text2, table_.head, area_.x0, middle,
                                      columns_.names_end - area_.x0 - mark);
    lay_out_more(sheet_, Layer::kBars, left_out, said.x1 + (said.width() > 0 ? sheet_.px(8) : 0), middle);
    for (std::size_t i = columns_.first; i < table_.columns.size(); ++i)
      sheet_.text_mid(Layer::kBars, kHeadType, palette_.text2, table_.columns[i], columns_.ends[i], middle,
                      Anchor::kEnd);
    sheet_.horizontal(Layer::kBars, area_.x0, area_.x1, sheet_.snap(area_.y0 + sheet_.px(kHeadHeight)),
                      palette_.control, sheet_.line_px(1));
  }

  // The notes count as a column.
  void take_notes(LeftOut& left_out) const {
    for (const TableRow& row : table_.rows)
      if (!row.note.empty()) left_out.names.push_back(joined(row.name, ": ", row.note));
    ++left_out.count;
  }

  // True if each row has room for its name and the beginning of its note on one line.
  bool notes_fit() const {
    return std::ranges::all_of(table_.rows, [&](const TableRow& row) {
      const float indent = row.category ? sheet_.px(20) : 0;
      const float room = columns_.names_end - area_.x0 - indent - sheet_.width(kName, row.name) - sheet_.px(8);
      return row.note.empty() || room >= std::min(sheet_.px(kLeastNote), sheet_.width(kNote, row.note));
    });
  }

  void row(const TableRow& row, const Rect& rect) {
    const float indent = row.category ? sheet_.px(20) : 0, middle = rect.center_y();
    const bool two_lines = !row.note.empty() && !one_line_;
    const float name_y = middle - (two_lines ? sheet_.px(8) : 0), x = rect.x0 + indent;
    if (row.category) {
      const float size = sheet_.px(10), top = sheet_.snap(name_y - size * 0.5f);
      lay_out_swatch(sheet_, Layer::kBars, {rect.x0, top, rect.x0 + size, top + size}, *row.category);
    }
    const float room = columns_.names_end - x;
    const Rect said = sheet_.text_cut(Layer::kBars, kName, palette_.text, row.name, x, name_y, room);
    const float note_x = two_lines ? x : said.x1 + sheet_.px(8);
    if (two_lines || notes_fit_)
      sheet_.text_cut(Layer::kBars, kNote, palette_.text2, row.note, note_x, two_lines ? middle + sheet_.px(9) : name_y,
                      columns_.names_end - note_x);
    for (std::size_t i = columns_.first; i < row.cells.size() && i < columns_.ends.size(); ++i)
      sheet_.text_mid(Layer::kBars, kCell, palette_.text, row.cells[i], columns_.ends[i], middle, Anchor::kEnd);
    std::string tip = joined(row.tip, ". ", row.note);
    if (columns_.first > 0) tip = joined(cells_of(row, columns_.first), ". ", tip);
    sheet_.scene().hits.push_back({rect, row.category, std::move(tip)});
  }

  // A mark counts the rows without a line; its tooltip has them in full.
  void more(const std::vector<Line>& lines, const Rect& rect) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < table_.rows.size(); ++i)
      if (std::ranges::find(lines, Line(i)) == lines.end()) names.push_back(in_full(table_.rows[i]));
    lay_out_more(sheet_, Layer::kBars, {"row", names}, rect.x0, rect.center_y());
  }

  // "gives up: speed, a step takes: 1.22 times"
  std::string cells_of(const TableRow& row, std::size_t count) const {
    std::string words;
    for (std::size_t i = 0; i < count && i < row.cells.size(); ++i)
      if (!row.cells[i].empty()) words += (words.empty() ? "" : ", ") + joined(table_.columns[i], ": ", row.cells[i]);
    return words;
  }
  std::string in_full(const TableRow& row) const {
    return joined(joined(row.name, "; ", cells_of(row, row.cells.size())), ". ", row.note);
  }

  Sheet& sheet_;
  const Palette& palette_;
  const Table& table_;
  Rect area_;
  TableColumns columns_;
  float foot_ = 0, height_ = 0;
  bool one_line_ = true, notes_fit_ = true;
  std::size_t most_ = 0;  // rows that fit
};

}  // namespace

void lay_out_panel(Sheet& sheet, const Table& table, Rect area) { TableLayout(sheet, table, area).draw(); }

}  // namespace headroom::app::paint
