// A sweep that a page starts: its engines, its progress, and where its points are shown as they come. One at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/common/sweep.h"
#include "app/window/draw/widgets.h"
#include "app/window/shell/ui_state.h"

namespace headroom::app::window {

// How a page's sweep is called.
struct SweepWords {
  std::string_view run;     // "Run the ladder"
  std::string_view does;    // what a click does: "Runs each rung on this machine, from the top"
  std::string_view point;   // "Rung"
  std::string_view stored;  // what is left without an engine: "the stored ladder"
};

class SweepRun {
 public:
  using MakeBackend = SweepDriver::MakeBackend;

  // How fresh engines are made; none: stored sweeps are looked at only.
  void use(MakeBackend make) { make_ = std::move(make); }
  // Shows its points on `page`, which must outlive it. What stands in the way is said below the button.
  void start(page::PageModel& page, record::Result<SweepPlan> plan);
  // Takes in what the sweep has got to and shows it on its page. True: something changed.
  bool poll();
  bool running() const;
  bool runs_for(const page::PageModel& page) const { return running() && page_ == &page; }

  // Run, or how far it is and Stop. True: start it.
  bool draw(PageFrame& frame, Rect rect, const SweepWords& words);

 private:
  void draw_progress(Rect rect, const SweepWords& words);

  MakeBackend make_;
  std::optional<SweepDriver> driver_;
  page::PageModel* page_ = nullptr;  // whose sweep runs, or ran last
  std::shared_ptr<const record::Recording> shown_;
  std::string refusal_;
};

}  // namespace headroom::app::window
