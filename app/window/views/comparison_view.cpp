// Run B against run A, below the figure.
#include "app/window/views/comparison_view.h"

#include <algorithm>
#include <string>

#include "app/page/page_model.h"
#include "app/window/draw/controls.h"

namespace headroom::app::window {

namespace {

constexpr float kLine = 22, kPadding = 10, kName = 240;

// A: a letter in a frame; B: the run on show, in ink. Returns where the words behind it begin.
float draw_letter(const Rect& row, std::string_view letter, bool on_show) {
  const float y = row.center_y();
  const Rect box{row.x0, y - px(8), row.x0 + px(16), y + px(8)};
  if (on_show)
    fill(box, theme().ink, 4);
  else
    outline(box, theme().text, 4, 1.5f);
  text_in(Face::kSemiBold, 11, box, on_show ? theme().on_ink : theme().text, letter, 0.5f);
  return box.x1 + px(8);
}

void draw_name(const Rect& row, std::string_view letter, bool on_show, const std::string& name) {
  const Rect words{draw_letter(row, letter, on_show), row.y0, row.x1, row.y1};
  const std::string shown = shortened(Face::kRegular, 12, name, words.width());
  text_in(Face::kRegular, 12, words, theme().text2, shown);
  if (shown != name && ImGui::IsMouseHoveringRect(upper_left(row), lower_right(row)) && ImGui::IsWindowHovered())
    tooltip(name);
}

const std::string& or_label(const std::string& settings, const page::RunOnShow& run) {
  return settings.empty() ? run.label : settings;
}

void draw_table(const PageFrame& frame, Rect rect) {
  const page::PageModel& page = frame.page;
  const page::Comparison& comparison = page.comparison();
  Rect names = rect.cut_left(px(kName));
  rect.cut_left(px(16));
  names.cut_top(px(kLine));
  draw_name(names.cut_top(px(kLine)), "A", false, or_label(comparison.a, *page.pinned()));
  draw_name(names.cut_top(px(kLine)), "B", true, or_label(comparison.b, *page.on_show()));
  text_in(Face::kSemiBold, 12, names.cut_top(px(kLine)), theme().text, "Δ  B − A");
  const float width = rect.width() / static_cast<float>(std::max<std::size_t>(3, comparison.rows.size()));
  for (const page::Comparison::Row& row : comparison.rows) {
    Rect column{rect.x0, rect.y0, rect.x0 + width - px(16), rect.y1};
    vertical_line(column.x0 - px(16), column.y0, column.y1, theme().hairline);
    text_in(Face::kMedium, 12, column.cut_top(px(kLine)), theme().text3, row.head);
    text_in(Face::kRegular, 13, column.cut_top(px(kLine)), theme().text2, row.a);
    text_in(Face::kSemiBold, 13, column.cut_top(px(kLine)), theme().text, row.b);
    const Rect last = column.cut_top(px(kLine));
    const float x = text_in(Face::kSemiBold, 13, last, theme().text, row.change).x1 + px(8);
    text_in(Face::kRegular, 12, {x, last.y0, last.x1, last.y1}, theme().text3, row.share);
    rect.x0 += width;
  }
}

void draw_line(const PageFrame& frame, Rect rect) {
  const page::PageModel& page = frame.page;
  // What changed is laid out from the right, the peak last to give way.
  const std::string_view head = "B − A";
  const float of_head = text_width(Face::kSemiBold, 12, head) + px(16);
  float needed = of_head;
  std::size_t count = 0;
  const auto words = [](const page::Comparison::Row& row) {
    return row.change + (row.share.empty() ? "" : " (" + row.share + ")");
  };
  const auto width = [&](const page::Comparison::Row& row) {
    return text_width(Face::kRegular, 12, row.head) + px(6) + text_width(Face::kSemiBold, 12, words(row)) + px(20);
  };
  for (const page::Comparison::Row& row : page.comparison().rows) {
    if (needed + width(row) > rect.width() - px(120)) break;
    needed += width(row);
    ++count;
  }
  draw_name({rect.x0, rect.y0, rect.x1 - needed, rect.y1}, "A", false, or_label(page.comparison().a, *page.pinned()));
  float x = rect.x1 - needed + px(20);
  x = text_in(Face::kSemiBold, 12, {x, rect.y0, rect.x1, rect.y1}, theme().text, head).x1 + px(16);
  for (std::size_t i = 0; i < count; ++i) {
    const page::Comparison::Row& row = page.comparison().rows[i];
    x = text_in(Face::kRegular, 12, {x, rect.y0, rect.x1, rect.y1}, theme().text2, row.head).x1 + px(6);
    x = text_in(Face::kSemiBold, 12, {x, rect.y0, rect.x1, rect.y1}, theme().text, words(row)).x1 + px(20);
  }
}

}  // namespace

float comparison_height(const PageFrame& frame) {
  if (frame.page.comparison().rows.empty()) return 0;
  return frame.density == Density::kWide ? 4 * kLine + 2 * kPadding : 30.0f;
}

void draw_comparison(PageFrame& frame, const Rect& rect) {
  fill(rect, theme().canvas, 6);
  outline(rect, theme().hairline, 6);
  if (frame.density == Density::kWide)
    draw_table(frame, rect.inset(px(14), px(kPadding)));
  else
    draw_line(frame, rect.inset(px(10), 0));
}

}  // namespace headroom::app::window
