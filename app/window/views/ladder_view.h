// The rungs of the ladder as a list that the reader drags into any order and runs. On the page of the ladder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/window/draw/widgets.h"
#include "app/window/shell/ui_state.h"
#include "app/window/views/sweep_run.h"

namespace headroom::app::window {

class LadderView {
 public:
  explicit LadderView(SweepRun& sweep);

  static bool serves(const page::PageModel& page);
  // Takes its part of `rect` from the left.
  void draw(PageFrame& frame, Rect& rect);

  // The switches from the second rung on, as the reader has them; their ids.
  const std::vector<std::string>& order() const { return order_; }
  // Rung `from` takes the place of rung `to`.
  void move(std::size_t from, std::size_t to);
  // Why the rung does not go with those above it; empty: it does.
  std::string why_not(const page::PageModel& page, std::size_t rung) const;

 private:
  record::Params base(const page::PageModel& page) const;
  void draw_rung(PageFrame& frame, std::size_t rung, const Rect& row);

  SweepRun& sweep_;
  std::vector<std::string> order_;
  std::optional<std::size_t> held_;  // the rung that is being dragged
};

}  // namespace headroom::app::window
