// A sweep that a page starts: engines, progress, and points as they arrive.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/common/sweep.h"
#include "app/window/draw/controls.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

struct SweepWords {
  std::string_view run;     // "Run the ladder"
  std::string_view does;    // what a click does: "Runs each rung on this machine, from the top"
  std::string_view point;   // "Rung"
  std::string_view stored;  // what remains without an engine: "the stored ladder"
  ButtonKind kind = ButtonKind::kPrimary;
  std::string_view refused = {};  // why it cannot run; empty: it can
};

class SweepRun;

// Makes fresh engines for sweeps, which run one at a time.
struct SweepEngines {
  SweepDriver::MakeBackend make;     // empty: only stored sweeps
  const SweepRun* in_use = nullptr;  // the sweep started last, on any page
};

class SweepRun {
 public:
  SweepRun(SweepEngines& engines, page::PageModel& page) : engines_(engines), page_(page) {}
  SweepRun(const SweepRun&) = delete;
  SweepRun& operator=(const SweepRun&) = delete;

  // The refusal of a plan appears below the button.
  void start(record::Result<SweepPlan> plan);
  // Shows new points on the page. True if anything changed.
  bool poll();
  bool running() const;
  // The running point's recording; null: none.
  std::shared_ptr<const record::Recording> run() const { return running() ? driver_->run() : nullptr; }

  // True if the sweep must start.
  bool draw(PageFrame& frame, Rect rect, const SweepWords& words);
  // "Rung 4 of 11, about 40 s left", estimated from finished points.
  std::string progress_words(const SweepWords& words, double now) const;

 private:
  float part_done() const;  // 0 to 1
  void draw_progress(Rect rect, const SweepWords& words, double now);

  SweepEngines& engines_;
  page::PageModel& page_;
  std::optional<SweepDriver> driver_;
  std::shared_ptr<const record::Recording> shown_;
  bool showed_ = false;          // the page has turned to the sweep once; now the reader chooses
  std::optional<double> began_;  // when first drawn
  std::string refusal_;
};

}  // namespace headroom::app::window
