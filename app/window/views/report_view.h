// The report's experiment in the window: which of its two sizes, Run, and the command that keeps what it makes. On the
// page of the report.
#pragma once

#include "app/window/shell/ui_state.h"
#include "app/window/views/sweep_run.h"

namespace headroom::app::window {

class ReportView {
 public:
  explicit ReportView(SweepRun& sweep) : sweep_(sweep) {}

  static bool serves(const page::PageModel& page);
  void draw(PageFrame& frame, Rect rect);

 private:
  SweepRun& sweep_;
  bool quick_ = true;
};

}  // namespace headroom::app::window
