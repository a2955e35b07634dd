#include "app/window/views/views.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace headroom::app::window {

namespace {

using Cells = std::vector<std::string>;

constexpr float kTableGap = 14, kAbove = 5,
                kTableLine = 1.3f;    // px between columns and above words; line height over em
constexpr float kSmallestWords = 11;  // em, of any text in the window

float longest_word(Face face, float em, const std::string& cell) {
  float longest = 0;
  std::istringstream words(cell);
  for (std::string word; words >> word;) longest = std::max(longest, text_width(face, em, word));
  return longest;
}

// True if all cells below the head are numbers: "128,256", "−41 %".
bool is_of_numbers(const lessons::TableBlock& table, std::size_t column) {
  return std::ranges::all_of(table.rows, [&](const Cells& row) {
    return row[column].empty() || row[column].find_first_of("0123456789") <= std::string("−").size();
  });
}

struct Layout {
  float em = 0;
  std::vector<float> widths;
  std::vector<bool> numbers;
};

std::vector<float> column_widths(const lessons::TableBlock& table, float em, bool whole_cells) {
  std::vector<float> widths;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const auto width = [&](Face face, const std::string& cell) {
      return whole_cells ? text_width(face, em, cell) : longest_word(face, em, cell);
    };
    float widest = width(Face::kMedium, table.columns[column]);
    for (const Cells& row : table.rows) widest = std::max(widest, width(Face::kRegular, row[column]));
    widths.push_back(widest);
  }
  return widths;
}

float sum(const std::vector<float>& widths) { return std::accumulate(widths.begin(), widths.end(), 0.0f); }

// Columns fit whole cells if possible; otherwise each gets its longest word and a share of the remaining room.
Layout layout_of(const lessons::TableBlock& table, float em, float room) {
  Layout layout{.em = em, .widths = {}, .numbers = {}};
  room -= px(kTableGap) * static_cast<float>(table.columns.size() - 1);
  if (const float needed = sum(column_widths(table, em, false)); needed > room)
    layout.em = std::max(kSmallestWords, std::floor(2 * em * room / needed) / 2);
  layout.widths = column_widths(table, layout.em, false);
  const std::vector<float> whole = column_widths(table, layout.em, true);
  const float over = std::max(0.0f, room - sum(layout.widths)), lacking = sum(whole) - sum(layout.widths);
  const float share = lacking > 0 ? std::min(1.0f, over / lacking) : 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    layout.widths[i] += share * (whole[i] - layout.widths[i]) + 1;  // for rounding
    layout.numbers.push_back(is_of_numbers(table, i));
  }
  return layout;
}

// Returns the bottom.
float draw_row(const Layout& layout, Face face, Color color, const Cells& cells, float x, float y) {
  float bottom = y;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Rect cell{x, y + px(kAbove), x + layout.widths[i], y + px(kAbove)};
    const bool one_line = text_width(face, layout.em, cells[i]) <= layout.widths[i];
    Rect placed = cell;
    if (layout.numbers[i] && one_line) placed.x0 = placed.x1 - text_width(face, layout.em, cells[i]) - 1;
    bottom = std::max(bottom, paragraph(face, layout.em, kTableLine, placed, color, cells[i]));
    x += layout.widths[i] + px(kTableGap);
  }
  return bottom + px(kAbove);
}

}  // namespace

void draw_word_table(const PageFrame& frame, const lessons::TableBlock& table) {
  gap(6);
  const Rect at = content_rect(0);
  const Layout layout = layout_of(table, text_em(frame), at.width());
  const float right =
      std::min(at.x1, at.x0 + sum(layout.widths) + px(kTableGap) * static_cast<float>(table.columns.size() - 1));
  float y = draw_row(layout, Face::kMedium, theme().text2, table.columns, at.x0, at.y0);
  horizontal_line(at.x0, right, y, theme().control);
  for (const Cells& row : table.rows) {
    y = draw_row(layout, Face::kRegular, theme().text, row, at.x0, y);
    horizontal_line(at.x0, right, y, theme().hairline);
  }
  end_drawing({at.x0, at.y0, at.x1, y});
  gap(10);
}

}  // namespace headroom::app::window
