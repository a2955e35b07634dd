// A page on the screen: model, widgets, figure and words, in any rectangle at any density.
#pragma once

#include <memory>

#include "app/page/page_model.h"
#include "app/window/views/bench_view.h"
#include "app/window/views/figure_card.h"
#include "app/window/views/page_frame.h"
#include "app/window/views/views.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

class PageView {
 public:
  PageView(std::unique_ptr<page::PageModel> model, SweepEngines& engines);

  page::PageModel& model() { return *model_; }
  const page::PageModel& model() const { return *model_; }
  PageState& state() { return state_; }
  const PageWidgets& widgets() const { return widgets_; }
  const FigureCard& figure() const { return figure_; }
  page::SecondQuestion& second_question() { return second_.question; }
  bool running() const { return model_->control().running() || widgets_.running(); }

  // Call when the reader returns to this page.
  void reopen();
  // Call after polling the backends.
  bool poll(double now, bool news);

  // Call before anything acts on the page.
  PageFrame frame(const Surroundings& surroundings);
  Turn draw(PageFrame& frame, const Rect& rect);
  // For an audience: draws the claim, the figure and the words of the moment.
  void draw_stage(PageFrame& frame, const Rect& rect);

 private:
  Turn draw_faces(PageFrame& frame, Rect rect);
  Turn draw_words_face(PageFrame& frame, const Rect& rect);
  void light(const PageFrame& frame);
  void draw_notes(const PageFrame& frame, Rect& rest) const;
  void draw_figure_face(PageFrame& frame, Rect head, Rect rect);
  void draw_foot(PageFrame& frame, Rect foot);
  void draw_card(PageFrame& frame, const Rect& rect);
  float folded_height() const;
  void draw_figure(PageFrame& frame, Rect rect, bool with_head);

  std::unique_ptr<page::PageModel> model_;
  PageWidgets widgets_;
  FigureCard figure_;
  BenchView bench_;  // of a page outside the course
  Insets insets_;
  SecondCard second_;
  PageState state_;
};

}  // namespace headroom::app::window
