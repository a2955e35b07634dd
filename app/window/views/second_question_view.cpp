// The second question: a number to type, then the key and the next attempt.
#include "app/window/views/views.h"

#include <fmt/format.h>

#include "app/window/draw/markdown.h"
#include "app/window/views/column.h"

namespace headroom::app::window {

namespace {

constexpr float kSecondLine = 1.5f;  // line height over em

void draw_field(PageFrame& frame) {
  page::SecondQuestion& question = frame.second.question;
  SecondCard& card = frame.second;
  const Rect row = take(32);
  const Rect field{row.x0, row.y0, row.x0 + px(112), row.y1};
  const bool entered = text_field("second guess", field, card.text, question.unit().name);
  const bool by_enter = entered && enter_pressed();
  const ButtonText check{"Check"};
  const Rect at{field.x1 + px(8), row.y0, field.x1 + px(8) + button_width(check), row.y1};
  const bool pressed = button("check second", at, check, ButtonKind::kPrimary, !card.text.empty());
  if ((by_enter || pressed) && !card.text.empty()) {
    const record::Status taken = question.answer(card.text);
    card.error = taken ? std::string() : taken.error().message;
    if (taken) card.text.clear();
  }
  if (card.error.empty()) return;
  gap(6);
  put_words(Face::kMedium, 12, kSecondLine, theme().text3, card.error);
}

void draw_key(PageFrame& frame) {
  page::SecondQuestion& question = frame.second.question;
  const lessons::ShownUnit& unit = question.unit();
  put_words(Face::kMedium, card_em(frame), kSecondLine, theme().text,
            fmt::format("You said {}. It is {}.", lessons::amount_text(*question.said(), unit),
                        lessons::amount_text(question.key(), unit)));
  if (!question.because().markdown.empty()) {
    gap(6);
    draw_linked(frame, question.because(), card_em(frame), kSecondLine);
  }
  gap(8);
  const ButtonText again{"Another one"};
  if (button("another one", take(32).left(button_width(again)), again)) question.again();
}

}  // namespace

void draw_second_question(PageFrame& frame) {
  page::SecondQuestion& question = frame.second.question;
  if (!question.exists()) return;
  const bool done = question.said().has_value();
  gap(10);
  if (begin_card("second question", frame)) {
    card_head(!done              ? Icon::kLock
              : question.right() ? Icon::kCheck
                                 : Icon::kInfo,
              !done              ? "And with other settings?"
              : question.right() ? "Right"
                                 : "Not quite");
    gap(4);
    frame.markdown.render(question.ask(), card_em(frame), kSecondLine);
    gap(10);
    done ? draw_key(frame) : draw_field(frame);
  }
  end_card();
  gap(10);
}

}  // namespace headroom::app::window
