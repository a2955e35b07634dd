// The rungs of the ladder as a list that the reader drags into any order, and the sweep that runs them. On the page of
// the ladder.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/sweep.h"
#include "app/window/ui_state.h"
#include "app/window/widgets.h"

namespace headroom::app::window {

class LadderView {
 public:
  using MakeBackend = SweepDriver::MakeBackend;

  LadderView();

  static bool serves(const PageModel& page);
  // Takes its part of `rect` from the left.
  void draw(Frame& frame, Rect& rect);
  // Takes in what the sweep has got to and shows it on its page. True: something changed.
  bool poll();
  // How fresh engines are made; none: ladders are looked at only.
  void use(MakeBackend make) { make_ = std::move(make); }

  // The switches from the second rung on, as the reader has them; their ids.
  const std::vector<std::string>& order() const { return order_; }
  // Rung `from` takes the place of rung `to`.
  void move(std::size_t from, std::size_t to);
  bool running() const { return driver_ && driver_->state() == SweepState::kRunning; }
  // Why the rung does not go with those above it; empty: it does.
  std::string why_not(const PageModel& page, std::size_t rung) const;

 private:
  record::Params base(const PageModel& page) const;
  void start(PageModel& page);
  void draw_rung(Frame& frame, std::size_t rung, const Rect& row);
  void draw_foot(Frame& frame, Rect rect);

  std::vector<std::string> order_;
  MakeBackend make_;
  std::optional<SweepDriver> driver_;
  PageModel* page_ = nullptr;  // whose sweep runs
  std::shared_ptr<const record::Recording> shown_;
  std::optional<std::size_t> held_;  // the rung that is being dragged
  std::string refusal_;
};

}  // namespace headroom::app::window
