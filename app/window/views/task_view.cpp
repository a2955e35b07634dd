// The page's task.
#include "app/window/views/views.h"

#include <fmt/format.h>

#include "app/page/page_model.h"
#include "app/window/views/column.h"

namespace headroom::app::window {

namespace {

constexpr float kTaskLine = 1.5f;  // line height over em

// A ring replaces the icon until the task is done.
void draw_head(bool reached) {
  const Rect at = content_rect(20);
  card_head(reached ? Icon::kCheck : Icon::kNone, reached ? "Task, done" : "Task");
  if (!reached) ring({at.x0 + px(7), at.center_y()}, px(6), theme().text3, 1.5f);
}

}  // namespace

void draw_task(PageFrame& frame, const lessons::MarkedText& words) {
  const page::Task& task = frame.page.task();
  const bool reached = task.state() == page::Task::State::kReached;
  const float em = card_em(frame);
  gap(6);
  if (begin_card("task", frame)) {
    draw_head(reached);
    gap(4);
    draw_linked(frame, words, em, kTaskLine);
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

}  // namespace headroom::app::window
