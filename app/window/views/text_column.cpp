// The reading side of a page.
#include "app/window/views/text_column.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/page/page_model.h"
#include "app/paint/layout/layout.h"
#include "app/window/draw/markdown.h"
#include "app/window/draw/widgets.h"

namespace headroom::app::window {

namespace {

constexpr int kNewNotice = 3;  // frames
// Narrow pages: longer lines are hard to read, and with room for two such columns the answer stands beside the words.
constexpr float kReadingWidth = 640, kTwoColumns = 760, kColumnWidth = 440, kColumnGap = 24;

bool wide(const PageFrame& frame) { return frame.width == Width::kWide; }
float text_line(const PageFrame& frame) { return wide(frame) ? 1.6f : 1.45f; }
float text_em(const PageFrame& frame) {
  return wide(frame) || ImGui::GetContentRegionAvail().x > px(kColumnWidth) ? 16.0f : 14.0f;
}

void gap(float height) { ImGui::Dummy({0, px(height)}); }

Rect content_rect(float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  return {at.x, at.y, at.x + ImGui::GetContentRegionAvail().x, at.y + px(height)};
}

// Takes `height` of the column for things that are drawn by hand.
Rect take(float height) {
  const Rect rect = content_rect(height);
  ImGui::Dummy(size_of(rect));
  return rect;
}

void end_drawing(const Rect& rect) {
  ImGui::SetCursorScreenPos({rect.x0, rect.y1});
  ImGui::Dummy({0, 0});
}

void draw_heading(const PageFrame& frame) {
  const Place& place = frame.place;
  text_in(Face::kMedium, 12, take(18), theme().text3, fmt::format("Page {} of {}", place.page + 1, place.pages));
  gap(2);
  const Rect at = content_rect(0);
  const float bottom =
      paragraph(Face::kDisplay, wide(frame) ? 28 : 22, 1.22f, at, theme().text, frame.page.page().title);
  end_drawing({at.x0, at.y0, at.x1, bottom});
  gap(wide(frame) ? 14 : 8);
}

// A card as high as what is drawn in it.
bool begin_card(const char* id, const PageFrame& frame) {
  const float padding = wide(frame) ? 16 : 12;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(padding), px(padding)));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, theme().card);
  return ImGui::BeginChild(id, {0, 0},
                           ImGuiChildFlags_Borders | ImGuiChildFlags_AutoResizeY |
                               ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_NavFlattened);
}

void end_card() {
  ImGui::EndChild();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

void card_head(Icon icon, std::string_view words) {
  const Rect head = take(20);
  draw_icon(icon, head.x0 + px(7), head.center_y(), theme().text, 15);
  text_in(Face::kSemiBold, 13, {head.x0 + px(22), head.y0, head.x1, head.y1}, theme().text, words);
}

std::string in_unit(double value, double unit) { return fmt::format("{:.1f}", value / unit); }

void draw_question(PageFrame& frame) {
  page::Question& question = frame.page.question();
  UiState& ui = frame.ui;
  if (begin_card("question", frame)) {
    card_head(Icon::kLock, "Predict first");
    gap(4);
    frame.markdown.render(frame.page.text().ask, wide(frame) ? 14.0f : 13.0f, 1.5f);
    gap(10);
    const Rect row = take(32);
    const Rect field{row.x0, row.y0, row.x0 + px(112), row.y1};
    if (!ui.editing_guess) ui.guess_text = question.guess() ? in_unit(*question.guess(), frame.guess_unit) : "";
    const bool entered = text_field("guess", field, ui.guess_text, frame.guess_unit_name);
    ui.editing_guess = ImGui::IsItemActive();
    if (entered) {
      const record::Status taken = question.set_guess_text(ui.guess_text, frame.guess_unit_name, frame.guess_unit);
      ui.guess_error = taken ? std::string() : taken.error().message;
      const bool by_enter =
          ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
      if (taken && by_enter) lock_answer(frame);
    }
    const ButtonText lock{"Lock answer", Icon::kNone, "Enter"};
    const Rect at{field.x1 + px(8), row.y0, field.x1 + px(8) + button_width(lock), row.y1};
    if (button("lock", at, lock, ButtonKind::kPrimary, question.guess().has_value())) lock_answer(frame);
    const bool running = frame.page.control().running();
    const std::string_view note = !ui.guess_error.empty() ? std::string_view(ui.guess_error)
                                  : running               ? "The run is recorded meanwhile and stays hidden until then."
                                                          : std::string_view();
    if (!note.empty()) {
      gap(8);
      const Rect rect = content_rect(0);
      const float bottom = paragraph(Face::kRegular, 12, 1.5f, rect, theme().text3, note);
      end_drawing({rect.x0, rect.y0, rect.x1, bottom});
    }
  }
  end_card();
}

// Both numbers on one line, from 0 to a little beyond the larger.
void draw_scale(const Rect& rect, double said, double is) {
  const double top = std::max(said, is) * 1.15;
  const auto x = [&](double value) { return rect.x0 + static_cast<float>(value / top) * rect.width(); };
  const float y = rect.center_y();
  fill({rect.x0, y - px(2), rect.x1, y + px(2)}, theme().track, 2);
  fill({std::min(x(said), x(is)), y - px(2), std::max(x(said), x(is)), y + px(2)}, theme().ink, 2);
  canvas()->AddCircleFilled({x(said), y}, px(6), theme().card);
  canvas()->AddCircle({x(said), y}, px(6), theme().text3, 0, line_px(2));
  canvas()->AddCircleFilled({x(is), y}, px(6), theme().ink);
}

void draw_reveal(PageFrame& frame) {
  const page::Question::Reveal& reveal = *frame.page.question().reveal();
  // The unit of the run that was guessed about, whatever is looked at now.
  const lessons::AxisUnit asked = frame.page.question().unit();
  const paint::ByteUnit unit = paint::guess_unit(asked, std::max(reveal.said, reveal.is));
  const auto unit_for = [&](double value) {  // beyond a thousand GB/s there is no room for the digits
    const bool tera = asked == lessons::AxisUnit::kBytesPerSecond && value >= 1e12;
    return tera ? paint::ByteUnit{"TB/s", 1e12} : unit;
  };
  if (begin_card("reveal", frame)) {
    card_head(Icon::kCheck, "Your prediction");
    gap(6);
    const float em = wide(frame) ? 28 : 22;
    const Rect row = take(wide(frame) ? 58 : 50);
    struct Number {
      std::string_view head;
      std::string value;
      std::string_view unit;
      ImU32 color;
    };
    const Number numbers[] = {
        {"you said", in_unit(reveal.said, unit_for(reveal.said).bytes), unit_for(reveal.said).name, theme().text3},
        {"it is", in_unit(reveal.is, unit_for(reveal.is).bytes), unit_for(reveal.is).name, theme().text},
        {"off by", reveal.factor < 100 ? fmt::format("{:.1f}×", reveal.factor) : "> 99×", "", theme().text}};
    float x = row.x0;
    for (const Number& number : numbers) {
      text_in(Face::kMedium, 12, {x, row.y0, row.x1, row.y0 + px(16)}, theme().text3, number.head);
      const float y = row.y0 + px(18);
      const float end = text_at(Face::kDisplay, em, x, y, number.color, number.value);
      const float base = line_height(Face::kDisplay, em) * 0.8f - line_height(Face::kMedium, 12) * 0.8f;
      text_at(Face::kMedium, 12, end + px(4), y + base, theme().text3, number.unit);
      x += row.width() / 3;
    }
    draw_scale(take(18), reveal.said, reveal.is);
    gap(8);
    frame.markdown.render(frame.page.text().because, wide(frame) ? 14.0f : 13.0f, 1.5f);
  }
  end_card();
}

void draw_waiting(PageFrame& frame) {
  const bool running = frame.page.control().running();
  const double guess = *frame.page.question().guess();
  const paint::ByteUnit unit = paint::guess_unit(frame.page.question().unit(), guess);
  const Rect at = content_rect(0);
  const std::string head = fmt::format("Locked: {} {}", in_unit(guess, unit.bytes), unit.name);
  const std::string_view body = running ? "The answer comes when the run is done."
                                        : "This run has no answer: run it again, or look at a recorded run.";
  const float bottom = callout(at, CalloutKind::kNote, head, body);
  end_drawing({at.x0, at.y0, at.x1, bottom});
}

void draw_words(PageFrame& frame) {
  draw_heading(frame);
  frame.markdown.render(frame.page.text().body, text_em(frame), text_line(frame), frame.ui.lit);
}

void draw_answer(PageFrame& frame) {
  switch (frame.page.question().state()) {
    case page::Question::State::kOpen:
      draw_question(frame);
      break;
    case page::Question::State::kWaiting:
      draw_waiting(frame);
      break;
    case page::Question::State::kAnswered:
      draw_reveal(frame);
      break;
    case page::Question::State::kNone:
    case page::Question::State::kSkipped:
      break;
  }
  Rect at = content_rect(0);
  at.y0 += px(wide(frame) ? 14 : 8);
  const float bottom = draw_notice(frame, at);
  const bool noticed = bottom > at.y0;
  if (noticed) end_drawing({at.x0, at.y0, at.x1, bottom});
  // What has just happened comes into sight; how far the words can scroll is known a frame later.
  frame.ui.noticed = noticed ? std::min(frame.ui.noticed + 1, kNewNotice + 1) : 0;
  if (noticed && frame.ui.noticed <= kNewNotice) ImGui::SetScrollHereY(1);
}

void draw_way_to_more(PageFrame& frame) {
  if (frame.page.text().more.markdown.empty() || frame.page.question().hides()) return;
  gap(wide(frame) ? 12 : 6);
  const ButtonText more{"Read more", Icon::kBook};
  Rect row = take(32);
  row.x0 -= px(6);  // its icon stands under the text, as far as its ring has room
  if (button("more", row.left(button_width(more)), more, ButtonKind::kGhost)) frame.ui.reading_more = true;
}

void draw_more(PageFrame& frame) {
  const ButtonText back{"Back to the page", Icon::kChevronLeft};
  const Rect row = take(32);
  if (button("less", row.left(button_width(back)), back, ButtonKind::kGhost)) frame.ui.reading_more = false;
  gap(8);
  frame.markdown.render(frame.page.text().more, text_em(frame), text_line(frame), frame.ui.lit);
}

void draw_dots(const PageFrame& frame, float x, float y) {
  for (int i = 0; i < frame.place.pages; ++i) {
    const bool current = i == frame.place.page;
    const float width = px(current ? 16 : 6);
    const Rect dot{x, y - px(3), x + width, y + px(3)};
    fill(dot, current ? theme().ink : i < frame.place.page ? theme().text3 : theme().track, 3);
    if (!current && i > frame.place.page) outline(dot, theme().control, 3);
    x += width + px(6);
  }
}

Turn draw_navigation(PageFrame& frame, const Rect& rect) {
  Turn turn = Turn::kStay;
  float x = rect.x0;
  if (frame.place.has_previous) {
    if (button("back", rect.left(px(32)), {"", Icon::kChevronLeft, "", "Previous page (PgUp)"})) turn = Turn::kBack;
    x += px(32 + 14);
  }
  if (frame.place.pages > 1) draw_dots(frame, x, rect.center_y());
  if (frame.page.question().hides()) {
    const ButtonText skip{"Skip", Icon::kNone, "", "Show the answer without a guess"};
    if (button("skip", rect.right(button_width(skip)), skip)) frame.page.question().skip();
  } else if (frame.place.has_next) {
    const ButtonText on{"Continue", Icon::kNone, "Space"};
    if (button("continue", rect.right(button_width(on)), on, ButtonKind::kPrimary)) turn = Turn::kOn;
  }
  return turn;
}

// A part of the page that scrolls by itself. Its window is a little larger than what is drawn in it: focus rings stand
// outside of what they surround.
bool begin_column(const char* id, const Rect& rect) {
  const float ring = px(6);
  ImGui::SetCursorScreenPos({rect.x0 - ring, rect.y0 - ring});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ring, ring));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  return ImGui::BeginChild(id, {rect.width() + 2 * ring, rect.height() + 2 * ring},
                           ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_NavFlattened);
}

void end_column() {
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
}

// Inside their child window. A line of the page before stays in sight.
void scroll_words(UiState& ui, float line) {
  const float at = ImGui::GetScrollY(), most = ImGui::GetScrollMaxY();
  ui.words_above = at > 0;
  ui.words_below = at < most - 1;  // ImGui rounds where it is, and not how far it could be
  const float page = ImGui::GetWindowHeight() - px(2 * line);
  if (ui.scroll_words != 0) ImGui::SetScrollY(std::clamp(at + static_cast<float>(ui.scroll_words) * page, 0.0f, most));
  ui.scroll_words = 0;
}

}  // namespace

void lock_answer(PageFrame& frame) {
  if (!frame.page.question().hides()) return;
  frame.page.question().lock();
  frame.ui.guess_error.clear();
}

float draw_notice(const PageFrame& frame, const Rect& at) {
  std::optional<page::Notice> notice = frame.page.notice();
  if (!frame.ui.refused_value.empty())
    notice = page::Notice{page::Notice::Kind::kTrouble, "This value is not taken", frame.ui.refused_value};
  else if (!notice && !frame.ui.notice.empty())
    notice = page::Notice{page::Notice::Kind::kTrouble, "For your information", frame.ui.notice};
  if (!notice) return at.y0;
  const auto kind =
      notice->kind == page::Notice::Kind::kOutOfMemory ? CalloutKind::kOutOfMemory : CalloutKind::kTrouble;
  return callout(at, kind, notice->head, notice->body);
}

Turn draw_text_column(PageFrame& frame, const Rect& rect) {
  Rect column = rect;
  const bool beside = frame.width == Width::kNarrow && column.width() >= px(kTwoColumns) && !frame.ui.reading_more;
  if (frame.width == Width::kNarrow)
    column.x1 = std::min(column.x1, column.x0 + px(beside ? 2 * kColumnWidth + kColumnGap : kReadingWidth));
  const Rect navigation = column.cut_bottom(px(34));
  column.y1 -= px(12);
  Rect answer = column;
  if (beside) answer = column.cut_right(std::round((column.width() - px(kColumnGap)) * 0.5f));
  if (beside) column.cut_right(px(kColumnGap));
  if (begin_column(frame.ui.reading_more ? "more words" : "words", column)) {
    if (frame.ui.reading_more) {
      draw_more(frame);
    } else {
      draw_words(frame);
      gap(wide(frame) ? 18 : 10);
      if (!beside) draw_answer(frame);
      draw_way_to_more(frame);
    }
    scroll_words(frame.ui, text_em(frame) * text_line(frame));
  }
  end_column();
  if (beside) {
    if (begin_column("answer", answer)) draw_answer(frame);
    end_column();
  }
  return draw_navigation(frame, navigation);
}

}  // namespace headroom::app::window
