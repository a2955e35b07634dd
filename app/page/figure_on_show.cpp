// Builds the shown figure for its settings and view.
#include "app/page/figure_on_show.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace headroom::app::page {

namespace {

constexpr double kFrameSeconds = 0.5;
constexpr double kKnownMoment = 0.6;  // position of the first cursor, as a share of the axis before the answer

// Deepest zoom: beyond it, doubles and pixels cannot separate events.
constexpr double kSmallestShare = 1e-7;

}  // namespace

FigureOnShow::FigureOnShow(const lessons::Page& page) {
  for (const std::string& id : page.figures)
    if (const lessons::Figure* figure = lessons::find_figure(id)) figures_.push_back(figure);
  for (const lessons::Figure* figure : figures_) {
    params_.emplace_back(figure->schema);
    prediction_params_.emplace_back(figure->schema);
    views_.emplace_back();
    if (prediction_params_.back().has("axis") && !prediction_params_.back().set("axis", "phase"))
      (void)prediction_params_.back().set("axis", "event");
  }
}

void FigureOnShow::show_tab(int index) {
  tab_ = index;
  next_frame_at_.reset();
  ++changes_;
}

std::optional<int> FigureOnShow::tab_of(lessons::Basis basis) const {
  const auto found = std::ranges::find(figures_, basis, &lessons::Figure::basis);
  return found == figures_.end() ? std::nullopt : std::optional(static_cast<int>(found - figures_.begin()));
}

record::Status FigureOnShow::set_param(std::string_view key, std::string_view value) {
  record::Status status = params_[at()].set(key, value);
  if (!status) return status;
  view().reset();  // positions mean something else on another axis
  ++changes_;
  return status;
}

void FigureOnShow::reset_params() {
  params_[at()] = record::Params(shown().schema);
  view().reset();
  ++changes_;
}

void FigureOnShow::reset_views() {
  for (TimelineView& each : views_) each.reset();
}

void FigureOnShow::show_whole(const lessons::FigureData& figure) {
  const lessons::Axis x = lessons::axes_of(figure).x;
  view().set_full({x.low, x.high});
}

void FigureOnShow::hold_axis(bool on) {
  const lessons::Axis* const axis = on ? lessons::guess_axis(data_) : nullptr;
  const bool held = axis != nullptr;
  if (held == held_room_.has_value()) {
    if (held) held_room_ = std::max(*held_room_, axis->high);
    return;
  }
  held_room_ = held ? std::optional(axis->high) : std::nullopt;
  ++changes_;
}

std::size_t FigureOnShow::frame() const {
  if (frames() == 0) return 0;
  return std::min(static_cast<std::size_t>(params().integer(lessons::kFrameKey)), frames());
}

void FigureOnShow::show_frame(std::size_t number) {
  (void)set_param(lessons::kFrameKey, std::to_string(std::clamp<std::size_t>(number, 1, frames())));
}

void FigureOnShow::play(bool on, double now) {
  next_frame_at_.reset();
  if (!on || frames() == 0) return;
  if (frame() == frames()) show_frame(1);
  next_frame_at_ = now + kFrameSeconds;
}

bool FigureOnShow::advance(double now) {
  if (!next_frame_at_ || now < *next_frame_at_) return false;
  if (frame() == frames()) {
    next_frame_at_.reset();
    return true;
  }
  show_frame(frame() + 1);
  next_frame_at_ = now + kFrameSeconds;
  return true;
}

bool FigureOnShow::is_built(int sources, int columns, const Question& question) const {
  return built_.sources == sources && built_.changes == changes_ && built_.columns == columns &&
         built_.view == view() && built_.guess == question.guess() && built_.question == question.state();
}

lessons::FigureInput FigureOnShow::with_view(lessons::FigureInput input) const {
  if (const auto range = view().zoom_range()) {
    input.view.begin = range->begin;
    input.view.end = range->end;
  }
  input.view.cursor = view().cursor();
  input.view.kernel = view().kernel();
  input.view.find = view().find();
  if (const auto& marked = view().measure()) input.view.range = {marked->begin, marked->end};
  return input;
}

// Without a cursor, the tensors listed are those at the peak, or earlier if the question hides the peak.
lessons::FigureData FigureOnShow::with_a_moment(lessons::FigureInput input) const {
  lessons::FigureData data = shown().build(input);
  const auto* timeline = lessons::panel_of<lessons::Timeline>(data);
  if (timeline == nullptr || !timeline->hidden_from || input.view.cursor) return data;
  input.view.cursor = timeline->x.low + (*timeline->hidden_from - timeline->x.low) * kKnownMoment;
  return shown().build(input);
}

void FigureOnShow::build(lessons::FigureInput input) {
  data_ = lessons::FigureData{};
  until_run_ = nullptr;
  if (view().zoomed()) {  // an unzoomed figure gives the full range
    lessons::FigureInput whole = input;
    whole.view.columns = kFewColumns;
    const lessons::FigureData all = shown().build(whole);
    if (all.head.empty_reason.empty()) show_whole(all);
  }
  data_ = with_a_moment(with_view(std::move(input)));
  if (!view().zoomed() && data_.head.empty_reason.empty()) show_whole(data_);
}

void FigureOnShow::keep_room(lessons::FigureInput input) {
  answered_.reset();
  if (!std::exchange(input.view.hidden, false)) return;
  lessons::FigureData answered = shown().build(with_view(std::move(input)));
  if (answered.head.empty_reason.empty()) answered_ = std::move(answered);
}

void FigureOnShow::build_instead(lessons::FigureInput input, const RunOnShow& run) {
  lessons::FigureData data = with_a_moment(with_view(std::move(input)));
  if (!data.head.empty_reason.empty()) return;
  data_ = std::move(data);
  until_run_ = &run;
  if (!view().zoomed()) show_whole(data_);
}

bool FigureOnShow::note_built(int sources, int columns, const Question& question) {
  const bool more = built_.sources != sources || built_.changes != changes_ || built_.question != question.state();
  built_ = {sources, changes_, columns, view(), question.guess(), question.state()};
  ++revision_;
  if (more) ++data_revision_;
  return more;
}

void FigureOnShow::mark_recorded() {
  if (data_.head.source == record::Source::kLive) data_.head.source = record::Source::kRecorded;
}

std::size_t FigureOnShow::found_at() const {
  const auto* lanes = lessons::panel_of<lessons::Lanes>(data_);
  if (lanes == nullptr) return 0;
  const auto& found = lanes->found;
  const auto at = std::find_if(found.begin(), found.end(),
                               [&](const lessons::FoundSpan& each) { return view().kernel() == each.span; });
  return static_cast<std::size_t>(at - found.begin());
}

void FigureOnShow::find_next(int direction) {
  const auto* lanes = lessons::panel_of<lessons::Lanes>(data_);
  if (lanes == nullptr || lanes->found.empty()) return;
  const std::size_t count = lanes->found.size(), now = found_at();
  const std::size_t first = direction > 0 ? 0 : count - 1;
  const std::size_t next = now == count ? first : (now + count + static_cast<std::size_t>(direction + 1) - 1) % count;
  const lessons::FoundSpan& found = lanes->found[next];
  view().select(found.span);
  // Also shows the kernels around the found one.
  constexpr double kAround = 30;
  const double length = std::min(view().visible().length(), kAround * (found.end - found.begin));
  const double middle = (found.begin + found.end) / 2;
  view().show({middle - length / 2, middle + length / 2});
  view().set_cursor(middle);
}

void FigureOnShow::step_cursor(int direction) {
  const auto* timeline = lessons::panel_of<lessons::Timeline>(data_);
  if (timeline == nullptr || timeline->stack.empty()) return;
  const double at = view().cursor().value_or(timeline->alive ? timeline->alive->position : timeline->x.low);
  const auto& stack = timeline->stack;
  const auto holds = [at](const lessons::StackColumn& column) { return column.end > at; };
  const auto found = std::find_if(stack.begin(), stack.end(), holds);
  std::ptrdiff_t i = std::distance(stack.begin(), found == stack.end() ? found - 1 : found);
  const record::ByCategory before = stack[static_cast<std::size_t>(i)].high;
  const std::ptrdiff_t last = std::ssize(stack) - 1;
  do i += direction;
  while (i > 0 && i < last && stack[static_cast<std::size_t>(i)].high == before);
  const lessons::StackColumn& column = stack[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, last))];
  view().set_cursor((column.begin + column.end) / 2);
}

std::optional<FigureOnShow::Measured> FigureOnShow::measured(const lessons::FigureInput& input) {
  if (!view().measure() || !draws_timeline()) return std::nullopt;
  const TimelineView::Range range = *view().measure();
  if (measured_ && measured_->revision == revision_ && measured_->range == range) return measured_->numbers;
  const auto total_at = [&](double x) {
    lessons::FigureInput one = input;
    one.view.cursor = x;
    const lessons::FigureData data = shown().build(one);
    const auto* timeline = lessons::panel_of<lessons::Timeline>(data);
    return timeline != nullptr && timeline->alive ? timeline->alive->total : 0;
  };
  lessons::FigureInput inside = input;
  inside.view.begin = range.begin;
  inside.view.end = range.end;
  const record::Bytes at_begin = total_at(range.begin), at_end = total_at(range.end);
  Measured numbers{range.length(), at_end - at_begin, std::max(at_begin, at_end)};
  const lessons::FigureData data = shown().build(inside);
  for (const lessons::StackColumn& column : lessons::panel_of<lessons::Timeline>(data)->stack)
    numbers.peak = std::max(numbers.peak, std::accumulate(column.high.begin(), column.high.end(), record::Bytes{}));
  measured_ = MeasuredAt{revision_, range, numbers};
  return numbers;
}

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
