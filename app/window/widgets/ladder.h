// The ladder's switches as chips on its figure's rows: dragged into any order, switched on or off, and run.
#pragma once

#include "app/window/draw/controls.h"
#include "app/window/views/page_frame.h"
#include "app/window/widgets/sweep_run.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

class LadderView final : public WidgetView {
 public:
  explicit LadderView(const WidgetHost& host) : page_(host.page), sweep_(host.engines, host.page) {}

  void draw(PageFrame& frame, Rect& rect) override;
  void draw_over(PageFrame& frame, const Rect& picture) override;
  bool running() const override { return sweep_.running(); }
  bool poll() override;

 private:
  void draw_rung(const DragOrder::Row& row) const;
  void draw_use(PageFrame& frame, std::size_t place, const Rect& at);

  page::PageModel& page_;
  SweepRun sweep_;
  DragOrder list_;
};

}  // namespace headroom::app::window
