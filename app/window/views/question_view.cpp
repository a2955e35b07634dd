// The page's questions.
#include "app/window/views/views.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/page/words/page_words.h"
#include "app/paint/layout/layout.h"
#include "app/window/draw/markdown.h"
#include "lessons/shown_unit.h"

namespace headroom::app::window {

namespace {

constexpr float kChoiceLine = 1.4f;  // line height over em

// One decimal, or none from 1,000 on.
std::string number_text(double value, double unit) {
  return value < 1000 * unit ? fmt::format("{:.1f}", value / unit) : record::format_count(std::llround(value / unit));
}

// A ring, filled if chosen, and words. The whole row is the control.
void draw_choice(PageFrame& frame, std::size_t index) {
  page::Question& question = frame.page.question();
  const std::string& words = question.choices()->choices[index].words;
  const bool chosen = question.chosen() == index;
  const Rect at = content_rect(0);
  const Rect inside{at.x0 + px(36), at.y0 + px(7), at.x1 - px(10), at.y1};
  const float em = card_em(frame);
  const float bottom = paragraph(Face::kRegular, em, kChoiceLine, inside, theme().text, words, false) + px(7);
  const Rect row{at.x0, at.y0, at.x1, bottom};
  const Hit state = hit(fmt::format("choice {}", index + 1).c_str(), row);
  if (chosen || state.hovered) fill(row, chosen ? theme().state.selected : theme().state.hover, 6);
  outline(row, chosen ? theme().ink : theme().control, 6, chosen ? 2 : 1);
  if (state.focused) focus_ring(row, 6);
  const ImVec2 center{row.x0 + px(18), inside.y0 + px(em * kChoiceLine) * 0.5f};
  ring(center, px(7), chosen ? theme().ink : theme().control, 1.5f);
  if (chosen) disc(center, px(4), theme().ink);
  paragraph(Face::kRegular, em, kChoiceLine, inside, theme().text, words);
  end_drawing(row);
  gap(6);
  if (state.clicked) question.choose(index);
}

// All rows are as high as the longest item needs.
void draw_order(PageFrame& frame) {
  page::Question& question = frame.page.question();
  const std::vector<std::string>& items = question.items()->items;
  const float em = card_em(frame);
  Rect at = content_rect(0);
  std::vector<std::string> ids;
  float height = 0;
  for (const std::size_t item : question.order()) {
    ids.push_back(fmt::format("item {}", item + 1));
    const Rect words{at.x0 + px(24), 0, at.x1 - px(6), 0};
    height = std::max(height, paragraph(Face::kRegular, em, kChoiceLine, words, theme().text, items[item], false));
  }
  height += px(10);
  at.y1 = at.y0 + height * static_cast<float>(ids.size());
  const auto moved = frame.state.order.draw(at, ids, height, true, [&](const DragOrder::Row& row) {
    const std::string& words = items[question.order()[row.place]];
    outline({at.x0, row.words.y0, at.x1, row.words.y1}, theme().control, 6);
    Rect inside{row.words.x0, 0, row.words.x1 - px(6), 0};
    const float needed = paragraph(Face::kRegular, em, kChoiceLine, inside, theme().text, words, false);
    inside.y0 = std::round(row.words.center_y() - needed * 0.5f);
    paragraph(Face::kRegular, em, kChoiceLine, inside, theme().text, words);
    if (row.tip) tooltip("Drag it up or down; with the keyboard, Alt and the arrow keys");
  });
  if (moved) question.move(moved->from, moved->to);
  end_drawing(at);
  gap(4);
}

void draw_number(PageFrame& frame) {
  page::Question& question = frame.page.question();
  PageState& state = frame.state;
  const Rect row = take(32);
  const Rect field{row.x0, row.y0, row.x0 + px(112), row.y1};
  if (!state.guess.editing) state.guess.text = question.guess() ? number_text(*question.guess(), frame.guess_unit) : "";
  const bool entered = text_field("guess", field, state.guess.text, frame.guess_unit_name);
  state.guess.editing = ImGui::IsItemActive();
  if (entered) {
    const record::Status taken = question.set_guess_text(state.guess.text, frame.guess_unit_name, frame.guess_unit);
    state.guess.error = taken ? std::string() : taken.error().message;
    const bool by_enter = enter_pressed();
    if (taken && by_enter) lock_answer(frame);
  }
  const ButtonText lock{"Lock answer", Icon::kNone, "Enter"};
  const Rect at{field.x1 + px(8), row.y0, field.x1 + px(8) + button_width(lock), row.y1};
  // The click that leaves the field accepts the typed text.
  const bool typed = state.guess.editing && !state.guess.text.empty();
  if (button("lock", at, lock, ButtonKind::kPrimary, question.can_lock() || typed)) lock_answer(frame);
}

void draw_lock(PageFrame& frame) {
  const ButtonText lock{"Lock answer", Icon::kNone, "Enter"};
  const Rect row = take(32);
  if (button("lock", row.left(button_width(lock)), lock, ButtonKind::kPrimary, frame.page.question().can_lock()))
    lock_answer(frame);
}

std::vector<std::string_view> notes(const PageFrame& frame) {
  std::vector<std::string_view> all;
  const std::string_view missing = frame.page.question().why_not_lock();
  if (!frame.state.guess.error.empty())
    all.emplace_back(frame.state.guess.error);
  else if (!missing.empty())
    all.push_back(missing);
  if (frame.page.control().running()) all.emplace_back("The run is being recorded and stays hidden until you answer.");
  return all;
}

void draw_open(PageFrame& frame) {
  const page::Question& question = frame.page.question();
  if (begin_card("question", frame)) {
    card_head(Icon::kLock, "Predict first");
    gap(4);
    frame.markdown.render(frame.page.text().ask, card_em(frame), 1.5f);
    gap(10);
    if (const auto* choices = question.choices()) {
      for (std::size_t i = 0; i < choices->choices.size(); ++i) draw_choice(frame, i);
      draw_lock(frame);
    } else if (question.items() != nullptr) {
      draw_order(frame);
      draw_lock(frame);
    } else {
      draw_number(frame);
    }
    for (const std::string_view note : notes(frame)) {
      gap(8);
      put_words(Face::kRegular, 12, 1.5f, theme().text3, note);
    }
  }
  end_card();
}

// Both numbers on a scale from 0 to just above the larger.
void draw_scale(const Rect& rect, double said, double is) {
  const double top = std::max(said, is) * 1.15;
  const auto x = [&](double value) { return rect.x0 + static_cast<float>(value / top) * rect.width(); };
  const float y = rect.center_y();
  fill({rect.x0, y - px(2), rect.x1, y + px(2)}, theme().state.track, 2);
  fill({std::min(x(said), x(is)), y - px(2), std::max(x(said), x(is)), y + px(2)}, theme().ink, 2);
  disc({x(said), y}, px(6), theme().card);
  ring({x(said), y}, px(6), theme().text3, 2);
  disc({x(is), y}, px(6), theme().ink);
}

// Draws one line, for figures that show settings other than the answer's.
void draw_folded(PageFrame& frame, const page::Question::Reveal& reveal, const lessons::ShownUnit& unit) {
  const std::string head = fmt::format("You said {} {}, it was {} {}", number_text(reveal.said, unit.size), unit.name,
                                       number_text(reveal.is, unit.size), unit.name);
  put_callout(CalloutKind::kNote, head, page::answered_by(frame.page));
}

void draw_reveal(PageFrame& frame) {
  const page::Question::Reveal& reveal = *frame.page.question().reveal();
  // The unit of the guessed run, whichever run is shown now.
  const lessons::AxisUnit asked = frame.page.question().unit();
  // Link speeds differ by decades, so the unit suits the slower link, as on the axis.
  const bool speeds = asked == lessons::AxisUnit::kBytesPerSecond;
  const lessons::ShownUnit unit =
      lessons::unit_for(asked, speeds ? std::min(reveal.said, reveal.is) : std::max(reveal.said, reveal.is));
  if (page::left_answer(frame.page)) return draw_folded(frame, reveal, unit);
  if (begin_card("reveal", frame)) {
    card_head(Icon::kCheck, "Your prediction");
    if (const std::string run = page::answered_by(frame.page); !run.empty()) {
      const Rect line = take(18);
      text_fit(Face::kRegular, 12, line, theme().text3, run);
    }
    gap(6);
    const float em = wide(frame) ? 28 : 22;
    const Rect row = take(wide(frame) ? 58 : 50);
    struct Number {
      std::string_view head;
      std::string value;
      std::string_view unit;
      Color color;
    };
    const page::Question::Distance distance = page::distance_of(reveal);
    const Number numbers[] = {{"you said", number_text(reveal.said, unit.size), unit.name, theme().text3},
                              {"it is", number_text(reveal.is, unit.size), unit.name, theme().text},
                              {distance.head, distance.value, distance.unit, theme().text}};
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
    draw_linked(frame, frame.page.text().because, card_em(frame), 1.5f);
  }
  end_card();
}

void draw_said(const PageFrame& frame, std::string_view head, std::string_view words) {
  const Rect at = take(16);
  text_in(Face::kMedium, 12, at, theme().text3, head);
  put_words(Face::kMedium, card_em(frame), kChoiceLine, theme().text, words);
  gap(8);
}

// The right order, "1. Weights  2. Gradients", or the right choice.
std::string right_answer(const page::Question& question) {
  if (const auto* order = question.items()) {
    std::string words;
    for (std::size_t i = 0; i < order->items.size(); ++i)
      words += fmt::format("{}{}. {}", i == 0 ? "" : "\n", i + 1, order->items[i]);
    return words;
  }
  for (const lessons::AnswerChoice& choice : question.choices()->choices)
    if (choice.right) return choice.words;
  return {};
}

void draw_verdict(PageFrame& frame) {
  const page::Question& question = frame.page.question();
  if (begin_card("reveal", frame)) {
    card_head(question.right() ? Icon::kCheck : Icon::kInfo, question.right() ? "Right" : "Not quite");
    gap(4);
    if (question.choices() != nullptr && question.chosen())
      draw_said(frame, "You said", question.choices()->choices[*question.chosen()].words);
    if (const std::string_view reply = question.reply(); !reply.empty()) {
      frame.markdown.render(std::string(reply), card_em(frame), 1.5f);
      gap(8);
    }
    if (!question.right() || question.items() != nullptr)
      draw_said(frame, question.items() != nullptr ? "In order" : "It is", right_answer(question));
    draw_linked(frame, frame.page.text().because, card_em(frame), 1.5f);
  }
  end_card();
}

void draw_waiting(PageFrame& frame) {
  const bool running = frame.page.control().running();
  const double guess = *frame.page.question().guess();
  const lessons::ShownUnit unit = lessons::unit_for(frame.page.question().unit(), guess);
  const std::string head = fmt::format("Locked: {} {}", number_text(guess, unit.size), unit.name);
  const std::string_view body = running ? "The answer appears when the run has finished."
                                        : "This run has no answer: run it again, or show a stored run.";
  put_callout(CalloutKind::kNote, head, body);
}

void draw_skipped(PageFrame& frame) {
  if (begin_card("reveal", frame)) {
    card_head(Icon::kInfo, "The answer");
    gap(4);
    if (frame.page.question().number() == nullptr)
      draw_said(frame, frame.page.question().items() != nullptr ? "In order" : "It is",
                right_answer(frame.page.question()));
    draw_linked(frame, frame.page.text().because, card_em(frame), 1.5f);
  }
  end_card();
}

// The second question: a number to type, then the key and the next attempt.
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

void draw_question(PageFrame& frame) {
  switch (frame.page.question().state()) {
    case page::Question::State::kOpen:
      draw_open(frame);
      break;
    case page::Question::State::kWaiting:
      draw_waiting(frame);
      break;
    case page::Question::State::kAnswered:
      frame.page.question().number() != nullptr ? draw_reveal(frame) : draw_verdict(frame);
      break;
    case page::Question::State::kSkipped:
      draw_skipped(frame);
      break;
    case page::Question::State::kNone:
      break;
  }
}

void lock_answer(PageFrame& frame) {
  if (!frame.page.question().hides()) return;
  frame.page.question().lock();
  frame.state.guess.error.clear();
}

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
