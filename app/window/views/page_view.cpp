// A page on the screen.
#include "app/window/views/page_view.h"

#include <algorithm>
#include <string>
#include <vector>

#include "app/page/page_facts.h"
#include "app/window/draw/controls.h"
#include "app/window/draw/markdown.h"
#include "app/window/widgets/param_control.h"
#include "lessons/shown_unit.h"

namespace headroom::app::window {

namespace {

constexpr float kStageWords = 0.42f;  // share of the width
// px at scale 1. A picture lower than this has a plot below about 240 px, so the settings fold into a line.
constexpr float kLeastPicture = 320, kSettings = 2 * (kCellHeight + kCellGap) - kCellGap;
constexpr float kHead = 34, kWideHead = 42;  // of the card, with the gap below

}  // namespace

PageView::PageView(std::unique_ptr<page::PageModel> model, SweepEngines& engines)
    : model_(std::move(model)),
      widgets_(model_->page(), {*model_, engines}),
      second_{page::SecondQuestion(model_->page())} {}

void PageView::reopen() {
  state_.reading_more = state_.drawer = state_.figure_face = false;
  state_.lit_by_step.reset();
}

bool PageView::poll(double now, bool news) {
  const bool changed = model_->poll(now, news);
  return widgets_.poll() || changed;
}

PageFrame PageView::frame(const Surroundings& surroundings) {
  PageFrame frame{surroundings, state_, *model_, widgets_, figure_, insets_, second_};
  const lessons::FigureData& figure = model_->figure(figure_.columns());
  const lessons::Axis* axis = lessons::guess_axis(figure);
  const lessons::AxisUnit asked = model_->question().unit();
  const bool drawn = axis != nullptr && axis->unit == asked;
  constexpr auto kLargest = static_cast<double>(record::kGiB);
  const lessons::ShownUnit unit = drawn ? lessons::unit_of(*axis) : lessons::unit_for(asked, kLargest);
  frame.guess_unit = unit.size;
  frame.guess_unit_name = unit.name;
  return frame;
}

// Uses the room that the widgets next to the figure leave.
void PageView::draw_figure(PageFrame& frame, Rect rect, bool with_head) {
  const bool wide = frame.density == Density::kWide;
  for (WidgetView* widget : widgets_.in(Slot::kBesideFigure)) widget->draw(frame, rect);
  if (rect.width() <= 0 || rect.height() <= 0) return;
  if (with_head) {
    Rect head = rect.cut_top(px(wide ? kWideHead : kHead));
    head.cut_bottom(px(wide ? 12 : 6));
    figure_.draw_head(frame, head);
  }
  figure_.draw_picture(frame, rect);
  for (WidgetView* widget : widgets_.in(Slot::kBesideFigure)) widget->draw_over(frame, rect);
}

void PageView::draw_card(PageFrame& frame, const Rect& rect) {
  const bool wide = frame.density == Density::kWide;
  card(rect);
  Rect inner = rect.inset(px(wide ? 20 : 12));
  const float verdict = verdict_height(frame), comparison = comparison_height(frame), gap = wide ? 12 : 8;
  const float strips = (verdict > 0 ? verdict + gap : 0) + (comparison > 0 ? comparison + gap : 0);
  const float settings = wide ? kSettings + 32 : kSettings + 20, head = wide ? kWideHead : kHead;
  const std::vector<WidgetView*> below = widgets_.in(Slot::kBelowFigure);
  const bool folds = !below.empty() && inner.height() < px(kLeastPicture + head + strips + settings);
  Rect rows;
  if (!below.empty()) {
    rows = inner.cut_bottom(px(folds ? folded_height() : kSettings));
    horizontal_line(rect.x0 + 1, rect.x1 - 1, rows.y0 - px(wide ? 16 : 10), theme().hairline);
    inner.cut_bottom(px(wide ? 32 : 20));
  }
  if (verdict > 0) {
    draw_verdict(frame, inner.cut_bottom(px(verdict)));
    inner.cut_bottom(px(gap));
  }
  if (comparison > 0) {
    draw_comparison(frame, inner.cut_bottom(px(comparison)));
    inner.cut_bottom(px(gap));
  }
  draw_figure(frame, inner, true);
  if (folds && widgets_.run_button()) draw_run_line(frame, rows);
  for (WidgetView* widget : below) folds ? widget->draw_narrow(frame, rows) : widget->draw(frame, rows);
}

// px at scale 1.
float PageView::folded_height() const {
  float height = 34;
  for (const WidgetView* widget : widgets_.in(Slot::kBelowFigure)) height = std::max(height, widget->narrow_height());
  return height;
}

Turn PageView::draw(PageFrame& frame, const Rect& rect) {
  Turn turn = Turn::kStay;
  const bool bench = !model_->page().lesson.in_course;
  if (frame.faces) {
    turn = draw_faces(frame, rect);
  } else if (bench && frame.density != Density::kNarrow) {
    bench_.draw(frame, rect);
  } else if (frame.density == Density::kNarrow) {
    Rect rest = rect;
    if (!frame.ui.figure_only) {
      turn = draw_words_face(frame, rest.cut_left(px(300)));
      rest.cut_left(px(16));
    }
    const Rect head = rest.cut_top(px(30));
    rest.cut_top(px(8));
    draw_figure_face(frame, head, rest);
  } else {
    const bool wide = frame.density == Density::kWide;
    Rect rest = rect;
    if (!frame.ui.figure_only) {
      const Rect text = rest.cut_left(px(wide ? 416 : 316));
      rest.cut_left(px(wide ? 24 : 16));
      turn = draw_text_column(frame, text);
    }
    draw_card(frame, rest);
  }
  light(frame);
  return turn;
}

// Lights the kind pointed at in words or figure, or else the step's kind.
void PageView::light(const PageFrame& frame) {
  const auto pointed = frame.markdown.pointed_at() ? frame.markdown.pointed_at() : figure_.pointed_at();
  state_.lit = pointed ? pointed : state_.lit_by_step;
  const bool pressed = ImGui::IsMouseDown(ImGuiMouseButton_Left) && ImGui::IsAnyItemActive();
  model_->figures().hold_axis(pressed && !model_->question().hides());
  const lessons::Act* const act = frame.markdown.pointed_act();
  auto previewed = std::exchange(state_.sizing.previewed, std::nullopt);
  if (act != nullptr) previewed = page::with_changes(*model_, act->settings);
  page::preview(*model_, previewed);
}

// Uses the lower part of `rest`, if the presenter asked for notes.
void PageView::draw_notes(const PageFrame& frame, Rect& rest) const {
  const lessons::Page& page = model_->page();
  if (!frame.ui.notes || page.lesson.notes.empty()) return;
  const std::string words = lessons::plain_text(page.lesson.notes);
  Rect at = rest;
  at.y0 = rest.y1 - (paragraph(Face::kRegular, 11, 1.4f, rest, theme().text2, words, false) - rest.y0);
  paragraph(Face::kRegular, 11, 1.4f, at, theme().text2, words);
  rest.y1 = at.y0 - px(8);
}

void PageView::draw_stage(PageFrame& frame, const Rect& rect) {
  Rect rest = rect.inset(px(20), px(14));
  const lessons::Page& page = model_->page();
  const bool known = !page.lesson.claim.empty() && !model_->question().hides();  // the claim gives half the answer away
  const std::string_view claim = known ? page.lesson.claim : page.title;
  const auto head_of = [&](std::string_view words, bool draw) {
    return paragraph(Face::kDisplay, 22, 1.2f, rest, theme().text, words, draw);
  };
  const float head = std::max({head_of(claim, true), head_of(page.title, false), head_of(page.lesson.claim, false)});
  rest.y0 = head + px(10);
  if (const float height = verdict_height(frame); height > 0) {
    draw_verdict(frame, rest.cut_bottom(px(height)));
    rest.cut_bottom(px(8));
  }
  draw_notes(frame, rest);
  if (!frame.ui.figure_only) {
    draw_words_of_moment(frame, rest.cut_right(std::round(rest.width() * kStageWords)));
    rest.cut_right(px(14));
  }
  card(rest);
  Rect inner = rest.inset(px(10));
  if (model_->figure(figure_.columns()).head.empty_reason.empty()) {
    figure_.draw_caption(frame, inner.cut_top(px(22)));
    inner.cut_top(px(6));
  }
  draw_figure(frame, inner, false);
  light(frame);
}

Turn PageView::draw_faces(PageFrame& frame, Rect rect) {
  const Rect head = rect.cut_top(px(30));
  rect.cut_top(px(8));
  const std::vector<std::string> faces{model_->page().lesson.in_course ? "Read" : "Verdict", "Figure"};
  int face = state_.figure_face ? 1 : 0;
  if (segmented("face", head.left(px(150)), faces, face)) state_.figure_face = face == 1;
  if (state_.figure_face) {
    draw_figure_face(frame, {head.x0 + px(150 + 16), head.y0, head.x1, head.y1}, rect);
    return Turn::kStay;
  }
  state_.timeline_focus = false;
  return draw_words_face(frame, rect);
}

// The bench has its verdict instead of words.
Turn PageView::draw_words_face(PageFrame& frame, const Rect& rect) {
  if (model_->page().lesson.in_course) return draw_text_column(frame, rect);
  bench_.draw_verdict_column(frame, rect);
  return Turn::kStay;
}

void PageView::draw_figure_face(PageFrame& frame, Rect head, Rect rect) {
  const auto* timeline = lessons::panel_of<lessons::Timeline>(model_->figure(figure_.columns()));
  const bool listed = timeline != nullptr && timeline->alive;
  state_.drawer = state_.drawer && listed;
  if (listed) {
    const ButtonText list{"Alive here", Icon::kLayers};
    if (button("drawer", head.cut_right(button_width(list)), list)) state_.drawer = !state_.drawer;
    head.cut_right(px(8));
  }
  figure_.draw_head(frame, head);
  const Rect foot = rect.cut_bottom(px(folded_height()));
  rect.cut_bottom(px(10));
  if (frame.faces) {  // otherwise the words have the notices
    rect.y0 = draw_program_notice(frame, rect);
    if (const float below = draw_notice(frame, rect); below > rect.y0) rect.y0 = below + px(8);
  }
  card(rect);
  draw_figure(frame, rect.inset(px(12)), false);
  if (state_.drawer) figure_.draw_drawer(frame, rect.inset(px(8)).right(px(240)));
  draw_foot(frame, foot);
}

// The current action at the right end, next to folded widgets.
void PageView::draw_foot(PageFrame& frame, Rect foot) {
  const bool open = model_->question().hides(), running = model_->control().running();
  if (!open && widgets_.run_button() && !page::why_no_engine(*model_).empty()) {
    draw_no_engine(frame, foot.cut_right(std::round(foot.width() * 0.45f)));
    foot.cut_right(px(12));
  } else if (open || widgets_.run_button()) {
    const page::Question& question = model_->question();
    const ButtonText lock{"Lock answer", Icon::kNone, "Enter", question.why_not_lock()}, run{"Run", Icon::kPlay},
        stop{"Cancel", Icon::kStop, "Esc"};
    const ButtonText& act = open ? lock : running ? stop : run;
    const Rect at = foot.cut_right(button_width(act)).top(px(34));
    foot.cut_right(px(8));
    const ButtonKind kind = running && !open ? ButtonKind::kSecondary : ButtonKind::kPrimary;
    if (button("act", at, act, kind, !open || question.can_lock())) {
      if (open)
        lock_answer(frame);
      else if (running)
        model_->control().cancel();
      else
        start_run(frame);
    }
  }
  if (open && frame.faces) {  // otherwise below the words
    const ButtonText skip{"Skip", Icon::kNone, "", "Show the answer without a guess"};
    if (button("skip", foot.cut_right(button_width(skip)).top(px(34)), skip)) model_->question().skip();
    foot.cut_right(px(8));
  }
  for (WidgetView* widget : widgets_.in(Slot::kBelowFigure)) widget->draw_narrow(frame, foot);
}

}  // namespace headroom::app::window
