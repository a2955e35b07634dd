// Draws what surrounds every page.
#include "app/window/shell/chrome.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "app/page/page_model.h"
#include "app/page/settings/my_settings.h"
#include "app/page/words/page_words.h"
#include "app/window/draw/controls.h"

namespace headroom::app::window {

namespace {

// The logo: a stack below a line, with headroom between.
void draw_mark(float x, float center_y, float size) {
  const float unit = size * look().scale / 20;
  const auto bar = [&](float x0, float y0, float x1, float y1) {
    fill({x + x0 * unit, center_y + (y0 - 10) * unit, x + x1 * unit, center_y + (y1 - 10) * unit}, theme().text, 1);
  };
  bar(0, 1, 20, 3);
  bar(1, 13, 5.5f, 19);
  bar(7.75f, 7, 12.25f, 19);
  bar(14.5f, 10, 19, 19);
}

bool contains(std::span<const lessons::Page* const> pages, const lessons::Page* page) {
  return std::find(pages.begin(), pages.end(), page) != pages.end();
}

// Returns the clicked page, or −1.
int draw_pages(const lessons::Chapter& chapter, int current, float height, Rect& column,
               std::span<const lessons::Page* const> read) {
  int clicked = -1;
  for (int i = 0; i < static_cast<int>(chapter.pages.size()); ++i) {
    const lessons::Page* page = chapter.pages[static_cast<std::size_t>(i)];
    const Rect row = column.cut_top(height);
    const Rect body{row.x0 + px(8), row.y0, row.x1 - px(9), row.y1};
    ImGui::PushID(i);
    const Hit state = hit("page", body);
    ImGui::PopID();
    if (state.clicked) clicked = i;
    if (state.hovered) fill(body, theme().state.hover, 6);
    if (state.focused) focus_ring(body, 6);
    vertical_line(row.x0 + px(27.5f), row.y0, row.y1, theme().hairline);
    const bool on = i == current;
    if (on) fill({row.x0 + px(27), row.y0 + px(4), row.x0 + px(29.5f), row.y1 - px(4)}, theme().ink, 1);
    const Face face = on ? Face::kMedium : Face::kRegular;
    const Color color = on ? theme().text : contains(read, page) ? theme().text2 : theme().text3;
    const float x = row.x0 + px(50);
    const std::string shown = shortened(face, 13, page->title, body.x1 - px(4) - x);
    text_in(face, 13, {x, row.y0, body.x1, row.y1}, color, shown);
    if (state.hovered && shown != page->title) tooltip(page->title);
  }
  column.cut_top(px(4));
  return clicked;
}

int read_of(const lessons::Chapter& chapter, std::span<const lessons::Page* const> read) {
  return static_cast<int>(std::count_if(chapter.pages.begin(), chapter.pages.end(),
                                        [&](const lessons::Page* page) { return contains(read, page); }));
}

bool draw_chapter(int index, const lessons::Chapter& chapter, bool current, bool wide, float height, Rect& column,
                  std::span<const lessons::Page* const> read) {
  const Rect row = column.cut_top(height);
  const Rect body{row.x0 + px(8), row.y0 + px(1), row.x1 - px(9), row.y1 - px(1)};
  ImGui::PushID(index);
  const Hit state = hit("chapter", body);
  ImGui::PopID();
  if (current)
    fill(body, theme().state.selected, 6);
  else if (state.hovered)
    fill(body, theme().state.hover, 6);
  if (state.focused) focus_ring(body, 6);
  const int done = read_of(chapter, read), pages = static_cast<int>(chapter.pages.size());
  const Face face = current ? Face::kSemiBold : Face::kRegular;
  const Color color = current ? theme().text : theme().text2;
  if (wide) {
    const Rect mark{row.x0 + px(14), row.y0, row.x0 + px(42), row.y1};
    if (done == pages)
      draw_icon(Icon::kCheck, mark.center_x(), mark.center_y(), theme().text2);
    else
      text_in(face, 13, mark, current ? theme().text : theme().text3, chapter.number, 0.5f);
    const float x = row.x0 + px(50), end = body.x1 - px(current ? 44 : 12);
    text_fit(face, 13, {x, row.y0, end, row.y1}, color, chapter.title);
    if (current)
      text_in(Face::kMedium, 12, {x, row.y0, body.x1 - px(12), row.y1}, theme().text2,
              fmt::format("{}/{}", done, pages), 1);
  } else {
    text_in(current ? Face::kSemiBold : Face::kMedium, 13, body, current ? theme().text : theme().text3, chapter.number,
            0.5f);
    if (done == pages) draw_icon(Icon::kCheck, body.x1 - px(6), row.y0 + px(10), theme().text2, 10);
    if (state.hovered) tooltip(chapter.title);
  }
  return state.clicked;
}

bool draw_bench_entry(const Rect& row, const lessons::Page& bench, bool current, bool wide) {
  const Rect body{row.x0 + px(8), row.y0 + px(1), row.x1 - px(9), row.y1 - px(1)};
  const Hit state = hit("to bench", body);
  if (current)
    fill(body, theme().state.selected, 6);
  else if (state.hovered)
    fill(body, theme().state.hover, 6);
  if (state.focused) focus_ring(body, 6);
  const Color color = current ? theme().text : theme().text2;
  if (!wide) {
    draw_icon(Icon::kChip, body.center_x(), body.center_y(), color, 16);
    if (state.hovered) tooltip(bench.title);
    return state.clicked;
  }
  draw_icon(Icon::kChip, row.x0 + px(28), row.center_y(), color, 16);
  text_in(current ? Face::kSemiBold : Face::kRegular, 13, {row.x0 + px(50), row.y0, body.x1, row.y1}, color,
          bench.title);
  return state.clicked;
}

void draw_progress(const Rect& rail, int read, int pages) {
  const Rect foot{rail.x0 + px(20), rail.y1 - px(52), rail.x1 - px(21), rail.y1};
  horizontal_line(rail.x0, rail.x1 - 1, foot.y0 - px(8), theme().hairline);
  text_in(Face::kMedium, 12, foot.top(px(20)), theme().text2, "Course");
  text_in(Face::kMedium, 12, foot.top(px(20)), theme().text2,
          fmt::format("{} of {} {}", read, pages, pages == 1 ? "page" : "pages"), 1);
  progress_bar({foot.x0, foot.y0 + px(26), foot.x1, foot.y0 + px(30)},
               pages == 0 ? 0 : static_cast<float>(read) / static_cast<float>(pages));
}

Icon icon_of(ThemeId id) {
  return id == ThemeId::kLight ? Icon::kMoon : id == ThemeId::kDark ? Icon::kContrast : Icon::kSun;
}

std::string_view name_of(ThemeId id) {
  return id == ThemeId::kLight ? "light" : id == ThemeId::kDark ? "dark" : "high contrast";
}

// The ring extends beyond the window. A thick circle of ImGui's would fold at its inner edge.
void shade_around(ImDrawList& list, const ImVec2& center, float inner, float outer) {
  constexpr int kCorners = 96;
  constexpr ImU32 kShade = IM_COL32(0, 0, 0, 150);
  const ImVec2 uv = ImGui::GetFontTexUvWhitePixel();
  list.PrimReserve(6 * kCorners, 2 * kCorners);
  const unsigned first = list._VtxCurrentIdx;
  for (int i = 0; i < kCorners; ++i) {
    const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(i) / kCorners;
    for (const float radius : {inner, outer})
      list.PrimWriteVtx({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)}, uv, kShade);
  }
  for (unsigned i = 0; i < kCorners; ++i) {
    const unsigned next = (i + 1) % kCorners;
    for (const unsigned corner : {2 * i, 2 * i + 1, 2 * next + 1, 2 * i, 2 * next + 1, 2 * next})
      list.PrimWriteIdx(static_cast<ImDrawIdx>(first + corner));
  }
}

}  // namespace

PageLayout page_layout(const Rect& window, Density density) {
  PageLayout layout;
  Rect rest = window;
  layout.rail = rest.cut_left(px(density == Density::kWide ? 264 : 56));
  layout.top = rest.cut_top(px(48));
  layout.status = rest.cut_bottom(px(28));
  layout.page = density == Density::kWide ? rest.inset(px(24), px(22)) : rest.inset(px(14), px(12));
  return layout;
}

const lessons::Page* draw_rail(const PageFrame& frame, const Rect& rect, const lessons::Course& course,
                               std::span<const lessons::Page* const> read) {
  const bool wide = frame.density == Density::kWide;
  const std::span<const lessons::Chapter> chapters(course.chapters());
  const lessons::Page* clicked = nullptr;
  fill(rect, theme().rail);
  vertical_line(rect.x1 - 1, rect.y0, rect.y1, theme().hairline);
  Rect column = rect;
  const Rect head = column.cut_top(px(48));
  draw_mark(rect.x0 + px(wide ? 20 : 18), head.center_y(), 20);
  if (wide) text_in(Face::kDisplay, 16, {rect.x0 + px(50), head.y0, rect.x1, head.y1}, theme().text, "Headroom");
  column.cut_top(px(8));
  if (course.bench() != nullptr) {
    if (draw_bench_entry(column.cut_top(px(34)), *course.bench(), !frame.page.page().lesson.in_course, wide))
      clicked = course.bench();
    column.cut_top(px(6));
    horizontal_line(rect.x0, rect.x1 - 1, column.y0, theme().hairline);
    column.cut_top(px(6));
  }
  if (wide) {
    const Rect label = column.cut_top(px(28));
    text_in(Face::kMedium, 12, {rect.x0 + px(20), label.y0, label.x1, label.y1}, theme().text3, "Chapters");
  }
  // Rows shrink if the window has no room for all.
  const int here = frame.place.chapter;  // −1 on the bench
  const std::size_t open = wide && here >= 0 ? chapters[static_cast<std::size_t>(here)].pages.size() : 0;
  const float room = rect.y1 - column.y0 - px(wide ? 72 : 8);
  const int all = static_cast<int>(chapters.size() + open);
  const float row = std::clamp(room / static_cast<float>(all), px(22), px(wide ? 36 : 34));
  // If even the lowest rows are too many, only those around the current chapter are shown.
  const int shown = std::min(all, static_cast<int>(room / row + 0.01f));
  const int first = std::clamp(here - shown / 2, 0, all - shown);
  int pages = 0;
  ImGui::PushID("rail");
  for (int i = 0; i < static_cast<int>(chapters.size()); ++i) {
    const lessons::Chapter& chapter = chapters[static_cast<std::size_t>(i)];
    pages += static_cast<int>(chapter.pages.size());
    if (i < first || i >= first + shown) continue;
    const bool current = i == here;
    if (draw_chapter(i, chapter, current, wide, row, column, read) && !current) clicked = chapter.pages.front();
    if (!current || !wide) continue;
    const int page = draw_pages(chapter, frame.place.page, std::min(row, px(30)), column, read);
    if (page >= 0) clicked = chapter.pages[static_cast<std::size_t>(page)];
  }
  ImGui::PopID();
  if (wide) draw_progress(rect, static_cast<int>(read.size()), pages);
  return clicked;
}

// Returns the left edge.
float draw_set_choice(PageFrame& frame, const Rect& rect) {
  const bool taken = frame.mine.taken_by(frame.page);
  if (!taken && !frame.mine.offered(frame.page)) return rect.x1 - px(8);
  const ButtonText mine{"With my settings", Icon::kNone, "",
                        "Show this page for the settings of the bench; the page's run stays as A"};
  const ButtonText own{"With the page's own", Icon::kNone, "", "Return to the settings that this page is about"};
  const Rect at{rect.x1 - px(8) - button_width(taken ? own : mine), rect.center_y() - px(15), rect.x1 - px(8),
                rect.center_y() + px(15)};
  if (button("set", at, taken ? own : mine)) {
    if (taken)
      frame.mine.give_back(frame.page);
    else
      frame.mine.give(frame.page);
  }
  return at.x0 - px(12);
}

void draw_top_bar(PageFrame& frame, const Rect& rect) {
  horizontal_line(rect.x0, rect.x1, rect.y1 - 1, theme().hairline);
  float x = rect.x0 + px(24);
  if (frame.place.chapter >= 0) {
    x = text_in(Face::kMedium, 13, {x, rect.y0, rect.x1, rect.y1}, theme().text3,
                frame.place.chapter_number == "P" ? "Prologue" : fmt::format("Chapter {}", frame.place.chapter_number))
            .x1 +
        px(8);
    draw_icon(Icon::kChevronRight, x + px(5), rect.center_y(), theme().text3, 12);
    x += px(18);
  }
  const float room = rect.x1 - px(16 + 6 * 36 + 16) - x;
  const std::string_view title = frame.place.chapter >= 0 ? frame.place.chapter_title : frame.page.page().title;
  x = text_in(Face::kMedium, 13, {x, rect.y0, rect.x1, rect.y1}, theme().text,
              shortened(Face::kMedium, 13, title, room))
          .x1;

  float right = rect.x1 - px(16);
  const auto icon_button = [&](const char* id, Icon icon, std::string_view what) {
    const Rect at{right - px(32), rect.center_y() - px(16), right, rect.center_y() + px(16)};
    right -= px(36);
    return button(id, at, {"", icon, "", what}, ButtonKind::kGhost);
  };
  const std::string to_theme = fmt::format("Switch to theme {}", name_of(next(frame.ui.theme)));
  if (icon_button("theme", icon_of(frame.ui.theme), to_theme)) frame.ui.theme = next(frame.ui.theme);
  if (icon_button("keys", Icon::kKeys, "Keys (?)")) frame.ui.open.keys = true;
  if (icon_button("present", Icon::kPlay, "Present: a claim and a figure per screen (F5)")) frame.ui.stage = true;
  if (icon_button("contents", Icon::kBook, "Contents (G)")) frame.ui.open.contents = true;
  if (icon_button("find", Icon::kSearch, "Find pages, terms, figures, settings (Ctrl P)")) frame.ui.open.finder = true;
  if (icon_button("export", Icon::kExport, "Export this figure (Ctrl E)")) frame.ui.open.exports = true;
  right = draw_set_choice(frame, {x + px(16), rect.y0, right, rect.y1});
  if (const auto& card = frame.mine.card(); card && *card != nullptr)
    text_fit(Face::kRegular, 12, {x + px(16), rect.y0, right, rect.y1}, theme().text2, "on " + (*card)->name, 1);
}

void draw_status_bar(const PageFrame& frame, const Rect& rect, bool no_engine,
                     std::span<const protocol::DeviceFacts> devices) {
  fill(rect, theme().rail);
  horizontal_line(rect.x0, rect.x1, rect.y0, theme().hairline);
  const bool wide = frame.density == Density::kWide;
  float x = rect.x0 + px(16);
  const auto say = [&](Face face, Color color, std::string_view words) {
    x = text_in(face, 12, {x, rect.y0, rect.x1, rect.y1}, color, words).x1 + px(8);
  };
  if (no_engine) {
    draw_icon(Icon::kInfo, x + px(7), rect.center_y(), theme().text2, 14);
    x += px(20);
    say(Face::kMedium, theme().text2, "No engine: stored runs and closed forms");
  } else if (!devices.empty()) {
    const protocol::DeviceFacts& device = devices.front();
    draw_icon(Icon::kChip, x + px(7), rect.center_y(), theme().text2, 14);
    x += px(20);
    say(Face::kMedium, theme().text2, device.name);
    if (frame.ui.free_memory && device.free_memory > 0 && device.free_memory != device.memory) {
      const std::string free = wide ? fmt::format("{} of {} free", record::format_bytes(device.free_memory, 1),
                                                  record::format_bytes(device.memory, 1))
                                    : record::format_bytes(device.free_memory, 1) + " free";
      say(Face::kRegular, theme().text2, free);
    } else if (device.memory > 0) {
      say(Face::kRegular, theme().text2, record::format_bytes(device.memory, 1));
    }
  }
  const std::string_view focus = frame.state.timeline_focus ? "timeline" : "page";
  const std::string keys = !wide                        ? fmt::format("Focus: {}   ? keys", focus)
                           : frame.state.timeline_focus ? "Focus: timeline   W/S zoom   A/D pan   Home fit   ? keys"
                                                        : "Focus: page   Space next   PgUp back   ? keys";
  const float keys_at =
      text_in(Face::kRegular, 12, {rect.x0, rect.y0, rect.x1 - px(16), rect.y1}, theme().text3, keys, 1).x0;
  const std::string status = page::status_line(frame.page);
  if (status.empty()) return;
  if (no_engine || !devices.empty()) {
    vertical_line(x + px(2), rect.y0 + px(8), rect.y1 - px(8), theme().hairline);
    x += px(12);
  }
  say(Face::kRegular, theme().text2, shortened(Face::kRegular, 12, status, keys_at - px(16) - x));
}

void draw_over_stage(const UiState& ui, const Rect& window) {
  using Blank = UiState::Blank;
  ImDrawList& over = *ImGui::GetForegroundDrawList();
  if (ui.blank != Blank::kNone) {
    over.AddRectFilled(upper_left(window), lower_right(window),
                       ui.blank == Blank::kBlack ? IM_COL32_BLACK : IM_COL32_WHITE);
    return;
  }
  if (!ui.spotlight) return;
  shade_around(over, ImGui::GetIO().MousePos, window.height() * 0.16f, window.width() + window.height());
}

}  // namespace headroom::app::window
