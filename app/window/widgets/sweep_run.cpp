// Runs sweeps in the window.
#include "app/window/widgets/sweep_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/window/widgets/param_control.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

void SweepRun::start(record::Result<SweepPlan> plan) {
  driver_.reset();  // if the plan fails, the last sweep must not be shown
  refusal_.clear();
  shown_.reset();
  began_.reset();
  if (!plan) {
    refusal_ = plan.error().message;
    return;
  }
  auto opened = SweepDriver::open(std::move(plan).value(), engines_.make);
  if (!opened) {
    refusal_ = opened.error().message;
    return;
  }
  driver_.emplace(std::move(opened).value());
  engines_.in_use = this;
  showed_ = false;
}

bool SweepRun::poll() {
  if (!driver_) return false;
  const bool changed = driver_->poll();
  if (driver_->recording() != nullptr && driver_->recording() != shown_) {
    shown_ = driver_->recording();
    if (!shown_->sweep_points().empty()) page_.take_sweep(shown_, !std::exchange(showed_, true));
  }
  return changed;
}

bool SweepRun::running() const {
  return driver_ && (driver_->state() == SweepState::kRunning || driver_->state() == SweepState::kStopping);
}

float SweepRun::part_done() const {
  const float of_point = driver_->progress() == nullptr ? 0 : static_cast<float>(driver_->progress()->fraction);
  const auto points = static_cast<float>(driver_->plan().points.size());
  return (static_cast<float>(driver_->done()) + of_point) / std::max(1.0f, points);
}

std::string SweepRun::progress_words(const SweepWords& words, double now) const {
  const std::size_t points = driver_->plan().points.size();
  std::string said = fmt::format("{} {} of {}", words.point, std::min(driver_->done() + 1, points), points);
  if (began_ && driver_->done() > 0)
    said += fmt::format(", {} left", seconds_words((now - *began_) * (1 / part_done() - 1)));
  return said;
}

void SweepRun::draw_progress(Rect rect, const SweepWords& words, double now) {
  if (rect.height() < px(32)) return;  // narrow pages
  rect.cut_top(px(8));
  progress_bar(rect.cut_top(px(4)), part_done());
  const Rect line = rect.top(px(20));
  text_fit(Face::kRegular, 12, line, theme().text2, progress_words(words, now));
}

bool SweepRun::draw(PageFrame& frame, Rect rect, const SweepWords& words) {
  const Rect at = rect.cut_top(px(32));
  if (running()) {
    const bool stopping = driver_->state() == SweepState::kStopping;
    if (button("stop sweep", at, {stopping ? "Stopping" : "Stop", Icon::kStop}, ButtonKind::kSecondary, !stopping))
      driver_->stop();
    if (!began_) began_ = frame.now;
    draw_progress(rect, words, frame.now);
    return false;
  }
  if (!page::why_no_engine(frame.page).empty()) {
    draw_no_engine(frame, {at.x0, at.y0, at.x1, std::max(at.y1, rect.y1)});
    return false;
  }
  const page::RunControl& control = frame.page.control();
  const bool busy =
      (engines_.in_use != nullptr && engines_.in_use->running()) || control.running() || control.busy_elsewhere();
  const std::string none =
      engines_.make ? std::string() : fmt::format("There is no engine here: see {} instead.", words.stored);
  const std::string_view why = !engines_.make           ? std::string_view(none)
                               : busy                   ? "A run is active: wait for it, or cancel it."
                               : !words.refused.empty() ? words.refused
                                                        : words.does;
  const bool clicked = button("run sweep", at, {words.run, Icon::kPlay, "", why}, words.kind,
                              engines_.make && !busy && words.refused.empty());
  if (!refusal_.empty()) {
    rect.cut_top(px(4));
    text_fit(Face::kRegular, 12, rect.top(px(20)), theme().text2, refusal_);
  }
  return clicked;
}

}  // namespace headroom::app::window
