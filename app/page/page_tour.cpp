// What a step of a tour does to the page: the view of its timeline, and the run that it is compared with.
#include <algorithm>
#include <limits>
#include <optional>

#include "app/page/page_model.h"

namespace headroom::app::page {

namespace {

constexpr double kMargin = 0.25;  // of the phase's length, beside a cursor that is outside it

// From where the phase begins to where it ends; nothing where the figure has no such phase.
std::optional<TimelineView::Range> range_of(const lessons::Timeline& timeline, record::Phase phase) {
  TimelineView::Range range{std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()};
  for (const lessons::Band& band : timeline.bands) {
    if (band.label != record::label_of(phase)) continue;
    range.begin = std::min(range.begin, band.begin);
    range.end = std::max(range.end, band.end);
  }
  if (range.begin >= range.end) return std::nullopt;
  return range;
}

std::optional<record::Phase> phase_named(std::string_view key) {
  for (int i = 0; i < record::kNumPhases; ++i)
    if (record::key_of(static_cast<record::Phase>(i)) == key) return static_cast<record::Phase>(i);
  return std::nullopt;
}

}  // namespace

void PageModel::pin(std::string_view run) {
  if (run.empty()) return;
  pinned_by_reader_ = run != "base";
  pinned_ = RunOnShow{};
  wanted_pin_ = run;
  comparison_.rows.clear();
  stale_ = true;
  if (run == "base") pin_base();
  for (const RunOnShow& each : runs_)
    if (each.name == run) pinned_ = each;
}

std::string PageModel::pin_name() const {
  if (!pinned_by_reader_) return {};
  if (pinned_.recording == nullptr) return wanted_pin_.empty() ? "none" : wanted_pin_;
  const auto pinned = std::ranges::find(runs_, pinned_.recording, &RunOnShow::recording);
  return pinned == runs_.end() ? std::string() : pinned->name;
}

// The view's places are those of the whole step, so the figure is built once without zoom.
void PageModel::show_view(const lessons::TourView& asked) {
  pin(asked.pin);
  if (asked.zoom.empty() && asked.cursor.empty()) return;
  int timeline_tab = 0;
  for (; timeline_tab < static_cast<int>(figures_.size()); ++timeline_tab) {
    const auto at = static_cast<std::size_t>(timeline_tab);
    lessons::FigureInput each = input_of(*figures_[at], kFewColumns);
    each.params = &figure_params_[at];
    if (lessons::panel_of<lessons::Timeline>(figures_[at]->build(each)) != nullptr) break;
  }
  if (timeline_tab == static_cast<int>(figures_.size())) return;
  show_tab(timeline_tab);
  if (!asked.zoom.empty()) view().fit_all();
  lessons::FigureInput whole = input(kFewColumns);
  const lessons::FigureData figure = shown_figure().build(whole);
  const auto* timeline = lessons::panel_of<lessons::Timeline>(figure);
  if (timeline == nullptr) return;
  show_whole(figure);
  if (asked.cursor == "begin") view().set_cursor(timeline->x.low);
  if (asked.cursor == "end") view().set_cursor(timeline->x.high);
  if (asked.cursor == "peak" && timeline->peak) view().set_cursor(timeline->peak->x);
  const auto phase = phase_named(asked.zoom);
  if (auto range = phase ? range_of(*timeline, *phase) : std::nullopt) {
    // The loss's peak is often in the first moments of backward: the step shows what it points at.
    const double margin = kMargin * range->length();
    if (const auto cursor = asked.cursor.empty() ? std::nullopt : view().cursor()) {
      range->begin = std::min(range->begin, std::max(*cursor - margin, timeline->x.low));
      range->end = std::max(range->end, std::min(*cursor + margin, timeline->x.high));
    }
    view().show(*range);
  }
  stale_ = true;
}

}  // namespace headroom::app::page
