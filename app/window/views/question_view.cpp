// The page's question.
#include "app/window/views/question_view.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "app/page/page_model.h"
#include "app/paint/layout/layout.h"
#include "app/window/draw/controls.h"
#include "app/window/draw/markdown.h"
#include "app/window/views/column.h"

namespace headroom::app::window {

namespace {

bool wide(const PageFrame& frame) { return frame.density == Density::kWide; }

std::string in_unit(double value, double unit) { return fmt::format("{:.1f}", value / unit); }

void draw_open(PageFrame& frame) {
  page::Question& question = frame.page.question();
  PageState& state = frame.state;
  if (begin_card("question", frame)) {
    card_head(Icon::kLock, "Predict first");
    gap(4);
    frame.markdown.render(frame.page.text().ask, card_em(frame), 1.5f);
    gap(10);
    const Rect row = take(32);
    const Rect field{row.x0, row.y0, row.x0 + px(112), row.y1};
    if (!state.editing_guess) state.guess_text = question.guess() ? in_unit(*question.guess(), frame.guess_unit) : "";
    const bool entered = text_field("guess", field, state.guess_text, frame.guess_unit_name);
    state.editing_guess = ImGui::IsItemActive();
    if (entered) {
      const record::Status taken = question.set_guess_text(state.guess_text, frame.guess_unit_name, frame.guess_unit);
      state.guess_error = taken ? std::string() : taken.error().message;
      const bool by_enter =
          ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
      if (taken && by_enter) lock_answer(frame);
    }
    const ButtonText lock{"Lock answer", Icon::kNone, "Enter"};
    const Rect at{field.x1 + px(8), row.y0, field.x1 + px(8) + button_width(lock), row.y1};
    if (button("lock", at, lock, ButtonKind::kPrimary, question.guess().has_value())) lock_answer(frame);
    const bool running = frame.page.control().running();
    const std::string_view note = !state.guess_error.empty() ? std::string_view(state.guess_error)
                                  : running ? "The run is recorded meanwhile and stays hidden until then."
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
    frame.markdown.render(frame.page.text().because, card_em(frame), 1.5f);
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

}  // namespace

void draw_question(PageFrame& frame) {
  switch (frame.page.question().state()) {
    case page::Question::State::kOpen:
      draw_open(frame);
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
}

void lock_answer(PageFrame& frame) {
  if (!frame.page.question().hides()) return;
  frame.page.question().lock();
  frame.state.guess_error.clear();
}

}  // namespace headroom::app::window
