// One drawing function per type of block, and words with links.
#include "app/window/views/views.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/page/page_model.h"
#include "app/page/words/acts.h"
#include "app/window/draw/markdown.h"
#include "app/window/views/figure_card.h"
#include "app/window/widgets/widget.h"
#include "lessons/pages/blocks/figure.h"
#include "lessons/pages/blocks/table.h"
#include "lessons/pages/blocks/widget.h"

namespace headroom::app::window {

namespace {

using page::PagePart;
constexpr float kDimmed = 0.45f;

using Step = std::pair<int, int>;  // step of Read more, or −1; its part

void draw_flow(PageFrame& frame, Step, const PagePart& part) {
  draw_linked(frame, part.words, text_em(frame), text_line(frame));
}

void draw_inset(PageFrame& frame, Step place, const PagePart& part) {
  frame.insets.draw(frame, place, *part.block->as<lessons::FigureBlock>());
}

void draw_table(PageFrame& frame, Step, const PagePart& part) {
  draw_word_table(frame, *part.block->as<lessons::TableBlock>());
}

constexpr float kTaskLine = 1.5f;  // line height over em

// A ring replaces the icon until the task is done.
void draw_head(bool reached) {
  const Rect at = content_rect(20);
  card_head(reached ? Icon::kCheck : Icon::kNone, reached ? "Task, done" : "Task");
  if (!reached) ring({at.x0 + px(7), at.center_y()}, px(6), theme().text3, 1.5f);
}

void draw_task(PageFrame& frame, Step, const PagePart& part) {
  const page::Task& task = frame.page.task();
  const bool reached = task.state() == page::Task::State::kReached;
  const float em = card_em(frame);
  gap(6);
  if (begin_card("task", frame)) {
    draw_head(reached);
    gap(4);
    draw_linked(frame, part.words, em, kTaskLine);
    gap(8);
    if (reached)
      draw_linked(frame, task.done(), em, kTaskLine);
    else if (!task.progress().empty())
      put_words(Face::kMedium, em, kTaskLine, theme().text2, task.progress());
    if (reached && !task.shown_by().empty()) {
      gap(4);
      put_words(Face::kMedium, 12, kTaskLine, theme().text3, fmt::format("Checked: {}.", task.shown_by()));
    }
  }
  end_card();
  gap(10);
}

void draw_widget(PageFrame& frame, Step, const PagePart& part) {
  WidgetView* const widget = frame.widgets.among_words(part.block->as<lessons::WidgetBlock>()->widget);
  if (widget == nullptr) return;
  gap(6);
  widget->draw_narrow(frame, take(widget->narrow_height()));
  gap(10);
}

// Draws a heading above dimmed words about settings that are not on show.
void draw_scope(std::string_view about) {
  gap(4);
  put_words(Face::kMedium, 12, 1.4f, theme().text3, fmt::format("About {}", about));
  gap(2);
}

struct BlockView {
  const lessons::BlockType* type;
  void (*draw)(PageFrame& frame, Step place, const PagePart& part);
};
constexpr std::array kBlockViews{
    BlockView{&lessons::kTextBlock, draw_flow},    BlockView{&lessons::kFormulaBlock, draw_flow},
    BlockView{&lessons::kFigureBlock, draw_inset}, BlockView{&lessons::kWidgetBlock, draw_widget},
    BlockView{&lessons::kTableBlock, draw_table},  BlockView{&lessons::kTaskBlock, draw_task},
};

constexpr const BlockView* view_of(const lessons::BlockType* type) {
  const auto* const found = std::ranges::find(kBlockViews, type, &BlockView::type);
  return found == kBlockViews.end() ? nullptr : found;
}
static_assert(std::ranges::all_of(lessons::kBlockTypes, view_of), "Each type of block has a drawing function.");

}  // namespace

void draw_linked(PageFrame& frame, const lessons::MarkedText& words, float em, float line) {
  const page::PageModel& page = frame.page;
  const ActWords acts{[&page](const lessons::Act& act) { return page::why_no_act(act, page); },
                      [&page](const lessons::Act& act) { return page::in_words(act, page); }};
  const lessons::Act* const act = frame.markdown.render(words, em, line, frame.state.lit, acts);
  if (act == nullptr) return;
  if (!act->page.empty()) {
    frame.ui.open_page = act->page;
    return;
  }
  const record::Status done = page::perform(*act, frame.page);
  frame.state.settings.refused = done ? std::string() : done.error().message;
  if (act->sets()) return;
  frame.state.figure_face = frame.faces;
  if (frame.state.reading_more) frame.state.lit_by_step = lessons::category_of_term(act->view.highlight);
}

void draw_parts(PageFrame& frame, int step, const page::PageParts& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PagePart& part = parts[i];
    if (!part.about.empty()) draw_scope(part.about);
    const Rect at = content_rect(0);
    view_of(part.block->type)->draw(frame, {step, static_cast<int>(i)}, part);
    if (!part.about.empty()) fill({at.x0, at.y0, at.x1, content_rect(0).y0}, faded(theme().canvas, kDimmed), 0);
  }
}

}  // namespace headroom::app::window
