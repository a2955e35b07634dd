// The rungs of the ladder as a list that the reader drags into any order and runs.
#pragma once

#include <string>
#include <vector>

#include "app/window/draw/drag_order.h"
#include "app/window/views/page_frame.h"
#include "app/window/widgets/sweep_run.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

class LadderView final : public WidgetView {
 public:
  explicit LadderView(const WidgetHost& host);

  Slot slot() const override { return Slot::kBesideFigure; }
  void draw(PageFrame& frame, Rect& rect) override;
  bool starts_runs() const override { return true; }
  std::string_view empty_reason() const override;
  bool running() const override { return sweep_.running(); }
  bool poll() override { return sweep_.poll(); }

  // The switches from the second rung on, as the reader has them; their ids.
  const std::vector<std::string>& order() const { return order_; }
  // Rung `from` takes the place of rung `to`.
  void move(std::size_t from, std::size_t to);
  // Why the rung does not go with those above it; empty: it does.
  std::string why_not(std::size_t rung) const;

 private:
  record::Params base() const;
  void draw_rung(const DragOrder::Row& row) const;

  const page::PageModel& page_;
  SweepRun sweep_;
  std::vector<std::string> order_;
  DragOrder list_;
};

}  // namespace headroom::app::window
