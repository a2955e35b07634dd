// Zooms and pans within the axis.
#include "app/page/timeline_view.h"

#include <algorithm>

namespace headroom::app::page {

namespace {

// Deepest zoom: beyond it, doubles and pixels cannot separate events.
constexpr double kSmallestShare = 1e-7;

}  // namespace

void TimelineView::set_full(Range full) {
  if (full.end <= full.begin) full.end = full.begin + 1;
  full_ = full;
  if (visible_ && (visible_->begin >= full.end || visible_->end <= full.begin)) visible_.reset();
  if (visible_) show(*visible_);
}

void TimelineView::show(Range range) {
  const double length = std::clamp(range.length(), full_.length() * kSmallestShare, full_.length());
  const double begin = std::clamp(range.begin, full_.begin, full_.end - length);
  if (length >= full_.length())
    visible_.reset();
  else
    visible_ = Range{begin, begin + length};
}

void TimelineView::zoom(double at, double factor) {
  const Range now = visible();
  at = std::clamp(at, now.begin, now.end);
  show({at - (at - now.begin) * factor, at + (now.end - at) * factor});
}

void TimelineView::pan(double distance) {
  if (!visible_) return;
  show({visible_->begin + distance, visible_->end + distance});
}

void TimelineView::fit() {
  if (measure_)
    show(*measure_);
  else
    fit_all();
}

void TimelineView::reset() {
  visible_.reset();
  cursor_.reset();
  measure_.reset();
  kernel_.reset();
}

}  // namespace headroom::app::page
