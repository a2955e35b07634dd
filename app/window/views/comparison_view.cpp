// Compares run B with run A, below the figure.
#include "app/window/views/views.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/window/draw/controls.h"

namespace headroom::app::window {

namespace {

constexpr float kComparisonLine = 22, kComparisonPadding = 10, kName = 240, kLeastName = 140;
constexpr float kBetween = 24;  // px between two quantities; a line divides them

// A: a letter in a frame; B: the current run, in ink. Returns the x at which the words begin.
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
  if (shown != name && pointed(row)) tooltip(name);
}

const std::string& or_label(const std::string& settings, const page::RunOnShow& run) {
  return settings.empty() ? run.label : settings;
}

void draw_spread(const Rect& at, const page::Comparison::Row& row) {
  if (row.spread_a.empty() && row.spread_b.empty()) return;
  if (!pointed(at)) return;
  tooltip(
      fmt::format("{}, medians over steps. A: {}, {}. B: {}, {}.", row.head, row.a, row.spread_a, row.b, row.spread_b));
}

// Differences are in ink, reasons for having none in gray.
Rect draw_change(const Rect& at, float em, const page::Comparison::Row& row) {
  const std::string shown = shortened(row.told ? Face::kSemiBold : Face::kRegular, em, row.change, at.width());
  return text_in(row.told ? Face::kSemiBold : Face::kRegular, em, at, row.told ? theme().text : theme().text3, shown);
}

float width_of(const page::Comparison::Row& row, bool with_share) {
  float change = text_width(row.told ? Face::kSemiBold : Face::kRegular, 13, row.change);
  if (with_share && !row.share.empty()) change += px(8) + text_width(Face::kRegular, 12, row.share);
  return std::max({text_width(Face::kMedium, 12, row.head), text_width(Face::kRegular, 13, row.a),
                   text_width(Face::kSemiBold, 13, row.b), change});
}

float width_of(const page::Comparison& comparison, bool with_share) {
  float width = 0;
  for (const page::Comparison::Row& row : comparison.rows) width += width_of(row, with_share) + px(kBetween);
  return width;
}

void draw_names(const PageFrame& frame, Rect names) {
  const page::PageModel& page = frame.page;
  const page::Comparison& comparison = page.run_a().comparison();
  names.cut_top(px(kComparisonLine));
  draw_name(names.cut_top(px(kComparisonLine)), "A", false, or_label(comparison.a, *page.run_a().pinned()));
  draw_name(names.cut_top(px(kComparisonLine)), "B", true, or_label(comparison.b, *page.on_show()));
  const Rect last = names.cut_top(px(kComparisonLine));
  if (comparison.early_end.empty())
    text_in(Face::kSemiBold, 12, last, theme().text, "Δ  B − A");
  else
    text_fit(Face::kRegular, 12, last, theme().text3, "No Δ. " + comparison.early_end);
}

void draw_quantity(Rect column, const page::Comparison::Row& row, bool with_share) {
  const Rect whole = column;
  vertical_line(column.x0 - px(kBetween / 2), column.y0, column.y1, theme().hairline);
  text_in(Face::kMedium, 12, column.cut_top(px(kComparisonLine)), theme().text3, row.head);
  text_in(Face::kRegular, 13, column.cut_top(px(kComparisonLine)), theme().text2, row.a);
  text_in(Face::kSemiBold, 13, column.cut_top(px(kComparisonLine)), theme().text, row.b);
  const Rect last = column.cut_top(px(kComparisonLine));
  const float x = draw_change(last, 13, row).x1 + px(8);
  if (with_share) text_in(Face::kRegular, 12, {x, last.y0, last.x1, last.y1}, theme().text3, row.share);
  draw_spread(whole, row);
}

// The columns share the remaining room. If it is short, the runs' names shrink first, then the shares are dropped.
void draw_table(const PageFrame& frame, Rect rect) {
  const page::Comparison& comparison = frame.page.run_a().comparison();
  const bool with_share = width_of(comparison, true) <= rect.width() - px(kLeastName);
  const float words = width_of(comparison, with_share);
  const float names = std::clamp(rect.width() - words, px(kLeastName), px(kName));
  draw_names(frame, rect.cut_left(names));
  const auto columns = static_cast<float>(std::max<std::size_t>(3, comparison.rows.size()));
  const float room = std::max(0.0f, rect.width() - words) / columns;
  for (const page::Comparison::Row& row : comparison.rows) {
    const Rect column = rect.cut_left(width_of(row, with_share) + px(kBetween) + room);
    draw_quantity({column.x0 + px(kBetween), column.y0, column.x1, column.y1}, row, with_share);
  }
}

// The row's change, or both numbers if a run ended early.
page::Comparison::Row on_one_line(page::Comparison::Row row) {
  if (row.change.empty()) {
    row.change = fmt::format("A {}, B {}", row.a, row.b);
    row.told = false;
  } else if (!row.share.empty()) {
    row.change += " (" + row.share + ")";
  }
  return row;
}

void draw_line(const PageFrame& frame, Rect rect) {
  const page::PageModel& page = frame.page;
  const page::Comparison& comparison = page.run_a().comparison();
  // Laid out from the right; the peak is dropped last.
  const std::string head = comparison.early_end.empty() ? "B − A" : comparison.early_end;
  float needed = text_width(Face::kSemiBold, 12, head) + px(16);
  const auto width = [&](const page::Comparison::Row& row) {
    return text_width(Face::kRegular, 12, row.head) + px(6) +
           text_width(row.told ? Face::kSemiBold : Face::kRegular, 12, row.change) + px(20);
  };
  std::vector<page::Comparison::Row> shown;
  for (const page::Comparison::Row& each : comparison.rows) {
    const page::Comparison::Row row = on_one_line(each);
    if (needed + width(row) > rect.width() - px(120)) break;
    needed += width(row);
    shown.push_back(row);
  }
  draw_name({rect.x0, rect.y0, rect.x1 - needed, rect.y1}, "A", false, or_label(comparison.a, *page.run_a().pinned()));
  float x = rect.x1 - needed + px(20);
  x = text_in(Face::kSemiBold, 12, {x, rect.y0, rect.x1, rect.y1}, theme().text, head).x1 + px(16);
  for (const page::Comparison::Row& row : shown) {
    const float from = x;
    x = text_in(Face::kRegular, 12, {x, rect.y0, rect.x1, rect.y1}, theme().text2, row.head).x1 + px(6);
    // Rounding must not shorten words that fit.
    x = draw_change({x, rect.y0, rect.x1 + px(20), rect.y1}, 12, row).x1;
    draw_spread({from, rect.y0, x, rect.y1}, row);
    x += px(20);
  }
}

}  // namespace

float comparison_height(const PageFrame& frame) {
  if (frame.page.run_a().comparison().rows.empty() && !page::will_compare(frame.page)) return 0;
  return frame.density == Density::kWide ? 4 * kComparisonLine + 2 * kComparisonPadding : 30.0f;
}

void draw_comparison(PageFrame& frame, const Rect& rect) {
  if (frame.page.run_a().comparison().rows.empty()) return draw_strip_veil(rect, "how the run differs from run A");
  fill(rect, theme().canvas, 6);
  outline(rect, theme().hairline, 6);
  if (frame.density == Density::kWide)
    draw_table(frame, rect.inset(px(14), px(kComparisonPadding)));
  else
    draw_line(frame, rect.inset(px(10), 0));
}

}  // namespace headroom::app::window
