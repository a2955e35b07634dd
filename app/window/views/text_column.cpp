// The reading side of a page.
#include "app/window/views/views.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/page/words/page_words.h"

namespace headroom::app::window {

namespace {

constexpr int kNewNotice = 3;  // frames in which a notice is new
// Narrow pages: longer lines are hard to read. With room for two columns, the answer is next to the words.
constexpr float kReadingWidth = 640, kTwoColumnsOfWords = 760, kColumnGap = 24;
constexpr float kLeastWords = 96;  // px at scale 1, above an open question that needs the rest of the column

std::string minutes_words(const lessons::Page& page) {
  if (page.lesson.minutes == 0) return {};
  return fmt::format(", {} minute{}", page.lesson.minutes, page.lesson.minutes == 1 ? "" : "s");
}

void draw_heading(const PageFrame& frame) {
  const Place& place = frame.place;
  text_in(Face::kMedium, 12, take(18), theme().text3,
          fmt::format("Page {} of {}", place.page + 1, place.pages) + minutes_words(frame.page.page()));
  gap(2);
  put_words(Face::kDisplay, wide(frame) ? 28 : 22, 1.22f, theme().text, frame.page.page().title);
  gap(wide(frame) ? 14 : 8);
}

// The welcome disappears with the reader's first action.
void draw_welcome(PageFrame& frame) {
  const page::Question& question = frame.page.question();
  if (frame.ui.first_start) frame.ui.first_start = question.hides() && !question.guess() && !question.chosen();
  if (!frame.ui.first_start) return;
  put_callout(CalloutKind::kNote, "Headroom shows where GPU memory goes when a model trains",
              "Drag and zoom the figures, and point at them. Every page works without a GPU: GPU "
              "runs are stored, and a small model trains on this CPU.");
  gap(12);
}

void draw_words(PageFrame& frame) {
  const float top = ImGui::GetCursorPosY();
  draw_welcome(frame);
  draw_heading(frame);
  draw_parts(frame, -1, frame.page.text().body);
  gap(wide(frame) ? 18 : 10);
  frame.state.sight.words = ImGui::GetCursorPosY() - top;
}

// The room for an open question below words that scroll, so that all of it is in sight. Empty if the column has room
// for both.
Rect cut_question(const PageFrame& frame, Rect& column) {
  const SightState& sight = frame.state.sight;
  const bool open = frame.page.question().hides() && !frame.state.reading_more;
  if (!open || sight.words + sight.question <= column.height()) return {};
  const Rect rect = column.cut_bottom(std::min(sight.question, column.height() - px(kLeastWords)));
  column.cut_bottom(px(8));
  return rect;
}

void draw_answer(PageFrame& frame) {
  const float top = ImGui::GetCursorPosY();
  const bool hides = frame.page.question().hides();
  const bool revealed = std::exchange(frame.state.sight.hid, hides) && !hides;
  if (revealed && frame.page.question().locked()) frame.state.sight.revealed = kNewNotice;
  draw_question(frame);
  if (frame.state.sight.revealed > 0) --frame.state.sight.revealed, ImGui::SetScrollHereY(1);
  Rect at = content_rect(0);
  at.y0 += px(wide(frame) ? 14 : 8);
  const float bottom = draw_notice(frame, at);
  const bool noticed = bottom > at.y0;
  if (noticed) end_drawing({at.x0, at.y0, at.x1, bottom});
  // Scrolls to a notice that has just appeared; the scroll range is known a frame later.
  frame.state.sight.noticed = noticed ? std::min(frame.state.sight.noticed + 1, kNewNotice + 1) : 0;
  if (noticed && frame.state.sight.noticed <= kNewNotice) ImGui::SetScrollHereY(1);
  frame.state.sight.question = ImGui::GetCursorPosY() - top;
}

void draw_sources(const PageFrame& frame) {
  const std::vector<std::string>& keys = frame.page.page().sources;
  if (keys.empty()) return;
  gap(18);
  text_in(Face::kMedium, 12, take(20), theme().text3, "Sources");
  for (const std::string& key : keys) {
    put_words(Face::kRegular, 12, 1.5f, theme().text2, frame.references.at(key).text());
    gap(4);
  }
}

void enter_step(PageFrame& frame, int step) {
  const lessons::TourView& view = frame.page.page().more[static_cast<std::size_t>(step)].view;
  frame.state.step = step;
  frame.state.lit_by_step = lessons::category_of_term(view.highlight);
  frame.page.show_view(view);
}

void draw_way_to_more(PageFrame& frame) {
  if (frame.page.question().hides()) return;
  if (frame.page.text().more.empty()) {
    draw_second_question(frame);
    draw_sources(frame);
    return;
  }
  gap(wide(frame) ? 12 : 6);
  const ButtonText more{"Read more", Icon::kBook};
  Rect row = take(32);
  row.x0 -= px(6);  // aligns the icon with the text, as far as the focus ring has room
  if (button("more", row.left(button_width(more)), more, ButtonKind::kGhost)) begin_more(frame);
}

void draw_more(PageFrame& frame) {
  const std::vector<page::PageParts>& steps = frame.page.text().more;
  const ButtonText back{"Back to the page", Icon::kChevronLeft};
  const Rect row = take(32);
  const auto step = static_cast<std::size_t>(frame.state.step);
  if (steps.size() > 1)
    text_in(Face::kMedium, 12, row, theme().text3, fmt::format("Step {} of {}", step + 1, steps.size()), 1);
  if (button("less", row.left(button_width(back)), back, ButtonKind::kGhost)) leave_more(frame);
  gap(8);
  draw_parts(frame, frame.state.step, steps[step]);
  if (step + 1 < steps.size()) return;
  draw_second_question(frame);
  draw_sources(frame);
}

// A dot per page, if there is room; the heading has the page's number.
void draw_dots(const PageFrame& frame, float x, float end, float y) {
  if (x + px(12) * static_cast<float>(frame.place.pages) + px(10) > end) return;
  for (int i = 0; i < frame.place.pages; ++i) {
    const bool current = i == frame.place.page;
    const float width = px(current ? 16 : 6);
    const Rect dot{x, y - px(3), x + width, y + px(3)};
    fill(dot, current ? theme().ink : i < frame.place.page ? theme().text3 : theme().state.track, 3);
    if (!current && i > frame.place.page) outline(dot, theme().control, 3);
    x += width + px(6);
  }
}

Turn draw_navigation(PageFrame& frame, const Rect& rect) {
  Turn turn = Turn::kStay;
  float x = rect.x0;
  const int last = static_cast<int>(frame.page.text().more.size()) - 1;
  const bool steps_on = frame.state.reading_more && frame.state.step < last;
  const bool steps_back = frame.state.reading_more && frame.state.step > 0;
  if (frame.place.has_previous || steps_back) {
    if (button("back", rect.left(px(32)), {"", Icon::kChevronLeft, "", "Back (PgUp)"}) && !walk(frame, -1))
      turn = Turn::kBack;
    x += px(32 + 14);
  }
  float end = rect.x1;
  if (frame.page.question().hides()) {
    const ButtonText skip{"Skip", Icon::kNone, "", "Show the answer without a guess"};
    const Rect at = rect.right(button_width(skip));
    if (button("skip", at, skip)) frame.page.question().skip();
    end = at.x0;
  } else if (frame.place.has_next || steps_on) {
    const ButtonText on{"Continue", Icon::kNone, "Space"};
    const Rect at = rect.right(button_width(on));
    if (button("continue", at, on, ButtonKind::kPrimary) && !walk(frame, +1)) turn = Turn::kOn;
    end = at.x0;
  }
  if (frame.place.pages > 1) draw_dots(frame, x, end, rect.center_y());
  return turn;
}

// Call inside the words' child window. Keeps a line of the previous screen in sight.
void scroll_words(PageState& state, float line) {
  const float at = ImGui::GetScrollY(), most = ImGui::GetScrollMaxY();
  state.words.above = at > 0;
  state.words.below = at < most - 1;  // ImGui rounds the position, not the maximum
  const float page = ImGui::GetWindowHeight() - px(2 * line);
  if (state.words.scroll != 0)
    ImGui::SetScrollY(std::clamp(at + static_cast<float>(state.words.scroll) * page, 0.0f, most));
  state.words.scroll = 0;
}

// Fades words at an edge that would cut through a line.
void draw_fades(const PageState& state) {
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float right = at.x + size.x - ImGui::GetStyle().ScrollbarSize;
  const ImU32 ground = as_u32(theme().canvas), clear = ground & ~IM_COL32_A_MASK;
  const auto fade = [&](float edge, float inward) {
    const float solid = edge + inward * px(10), end = edge + inward * px(28);
    const ImU32 upper = inward > 0 ? ground : clear, lower = inward > 0 ? clear : ground;
    canvas()->AddRectFilled({at.x, std::min(edge, solid)}, {right, std::max(edge, solid)}, ground);
    canvas()->AddRectFilledMultiColor({at.x, std::min(solid, end)}, {right, std::max(solid, end)}, upper, upper, lower,
                                      lower);
  };
  if (state.words.above) fade(at.y, +1);
  if (state.words.below) fade(at.y + size.y, -1);
}

}  // namespace

bool walk(PageFrame& frame, int direction) {
  const int to = frame.state.step + direction;
  if (!frame.state.reading_more || to < 0 || to >= static_cast<int>(frame.page.text().more.size())) return false;
  enter_step(frame, to);
  return true;
}

bool begin_more(PageFrame& frame) {
  if (frame.state.reading_more || frame.page.text().more.empty()) return false;
  frame.state.reading_more = true;
  enter_step(frame, 0);
  return true;
}

void read_step(PageFrame& frame, int step) {
  if (step < 0 && frame.state.reading_more) leave_more(frame);
  if (step < 0 || step >= static_cast<int>(frame.page.text().more.size()) || frame.page.question().hides()) return;
  frame.state.reading_more = true;
  frame.state.figure_face = false;
  enter_step(frame, step);
}

void leave_more(PageFrame& frame) {
  frame.state.reading_more = false;
  frame.state.lit_by_step.reset();
  frame.page.figures().view().fit_all();
}

float draw_notice(const PageFrame& frame, const Rect& at) {
  std::optional<page::Notice> notice = page::notice_of(frame.page);
  if (!frame.state.settings.refused.empty())
    notice = page::Notice{page::Notice::Kind::kTrouble, "This value is not valid", frame.state.settings.refused};
  if (!notice) return at.y0;
  const auto kind =
      notice->kind == page::Notice::Kind::kOutOfMemory ? CalloutKind::kOutOfMemory : CalloutKind::kTrouble;
  return callout(at, kind, notice->head, notice->body);
}

float draw_program_notice(PageFrame& frame, const Rect& at) {
  if (frame.ui.notice.empty()) return at.y0;
  const float bottom = callout(at, CalloutKind::kTrouble, "For your information", frame.ui.notice);
  const Rect close{at.x1 - px(32), at.y0 + px(5), at.x1 - px(6), at.y0 + px(31)};
  if (button("close notice", close, {"×", Icon::kNone, "", "Close this notice"}, ButtonKind::kGhost))
    frame.ui.notice.clear();
  return bottom + px(10);
}

void draw_words_of_moment(PageFrame& frame, const Rect& whole) {
  const PageState& state = frame.state;
  const Rect rect{whole.x0, draw_program_notice(frame, whole), whole.x1, whole.y1};
  const std::string id = state.reading_more ? fmt::format("stage words {}", state.step) : "stage words";
  if (begin_column(id.c_str(), rect)) {
    if (state.reading_more)
      draw_parts(frame, state.step, frame.page.text().more[static_cast<std::size_t>(state.step)]);
    else if (frame.page.question().state() == page::Question::State::kSkipped)
      draw_linked(frame, frame.page.text().because, text_em(frame), text_line(frame));
    else if (frame.page.question().spec() != nullptr)
      draw_answer(frame);
    else
      draw_parts(frame, -1, frame.page.text().body);
    scroll_words(frame.state, text_em(frame) * text_line(frame));
    draw_fades(state);
  }
  end_column();
}

Turn draw_text_column(PageFrame& frame, const Rect& rect) {
  Rect column = rect;
  const bool beside =
      frame.density == Density::kNarrow && column.width() >= px(kTwoColumnsOfWords) && !frame.state.reading_more;
  if (frame.density == Density::kNarrow)
    column.x1 = std::min(column.x1, column.x0 + px(beside ? 2 * kColumnWidth + kColumnGap : kReadingWidth));
  const Rect navigation = column.cut_bottom(px(34));
  column.y1 -= px(12);
  column.y0 = draw_program_notice(frame, column);
  Rect answer = column;
  if (beside) answer = column.cut_right(std::round((column.width() - px(kColumnGap)) * 0.5f));
  if (beside) column.cut_right(px(kColumnGap));
  const Rect question = beside ? Rect{} : cut_question(frame, column);
  const bool apart = question.height() > 0;
  const std::string words = frame.state.reading_more ? fmt::format("more words {}", frame.state.step) : "words";
  if (begin_column(words.c_str(), column)) {
    if (frame.state.reading_more) {
      draw_more(frame);
    } else {
      draw_words(frame);
      if (!beside && !apart) draw_answer(frame);
      draw_way_to_more(frame);
    }
    scroll_words(frame.state, text_em(frame) * text_line(frame));
    if (apart) draw_fades(frame.state);
  }
  end_column();
  if (beside || apart) {
    if (begin_column("answer", apart ? question : answer)) draw_answer(frame);
    end_column();
  }
  return draw_navigation(frame, navigation);
}

}  // namespace headroom::app::window
