// A sweep that a page starts: its engines, its progress, and its points on the page as they come.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/common/sweep.h"
#include "app/window/draw/controls.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// How a page's sweep is called.
struct SweepWords {
  std::string_view run;     // "Run the ladder"
  std::string_view does;    // what a click does: "Runs each rung on this machine, from the top"
  std::string_view point;   // "Rung"
  std::string_view stored;  // what is left without an engine: "the stored ladder"
  ButtonKind kind = ButtonKind::kPrimary;
  std::string_view refused = {};  // why it cannot be run as the page is set; empty: it can
};

class SweepRun;

// What sweeps run on: fresh engines, and one sweep at a time.
struct SweepEngines {
  SweepDriver::MakeBackend make;     // none: stored sweeps can be looked at only
  const SweepRun* in_use = nullptr;  // the sweep that was started last, on any page
};

class SweepRun {
 public:
  SweepRun(SweepEngines& engines, page::PageModel& page) : engines_(engines), page_(page) {}
  SweepRun(const SweepRun&) = delete;
  SweepRun& operator=(const SweepRun&) = delete;

  // Why a plan cannot be started is said below the button.
  void start(record::Result<SweepPlan> plan);
  // Takes in what the sweep has got to and shows it on its page. True: something changed.
  bool poll();
  bool running() const;

  // Run, or how far it is and Stop. True: start it.
  bool draw(PageFrame& frame, Rect rect, const SweepWords& words);
  // "Rung 4 of 11, about 40 s left": the time by that of the points that are done.
  std::string progress_words(const SweepWords& words, double now) const;

 private:
  float part_done() const;  // from 0 to 1
  void draw_progress(Rect rect, const SweepWords& words, double now);

  SweepEngines& engines_;
  page::PageModel& page_;
  std::optional<SweepDriver> driver_;
  std::shared_ptr<const record::Recording> shown_;
  bool showed_ = false;          // the page has turned to it; where it is looked at from then on is the reader's
  std::optional<double> began_;  // when it was first drawn
  std::string refusal_;
};

}  // namespace headroom::app::window
