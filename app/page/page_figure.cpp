// The figure that a page shows: what goes into it, when it is built anew, and what is measured in it.
#include <algorithm>
#include <numeric>

#include "app/page/page_model.h"
#include "lessons/step_work.h"

namespace headroom::app::page {

namespace {

constexpr double kFrameSeconds = 0.5;  // of a figure that plays
constexpr double kKnownMoment = 0.6;   // of what is shown before the answer: where the cursor is at first

}  // namespace

void PageModel::show_tab(int index) {
  if (index < 0 || index >= static_cast<int>(figures_.size()) || index == tab_) return;
  const bool drove = settings_drive();
  tab_ = index;
  next_frame_.reset();
  stale_ = true;
  show_run_of_figure();
  // The figure before was of no run: what is on show and the settings have not been about the same.
  if (drove || !settings_drive() || shown_ < 0 || shows_evidence()) return;
  if (before_.empty())
    show_run(shown_);
  else
    show_settings();
}

record::Status PageModel::set_figure_param(std::string_view key, std::string_view value) {
  record::Status status = figure_params_[static_cast<std::size_t>(tab_)].set(key, value);
  if (!status) return status;
  view().reset();  // the same number is another place on another axis
  stale_ = true;
  return status;
}

std::size_t PageModel::frame() const {
  if (frames() == 0) return 0;
  return std::min(static_cast<std::size_t>(figure_params().integer(lessons::kFrameKey)), frames());
}

void PageModel::show_frame(std::size_t number) {
  (void)set_figure_param(lessons::kFrameKey, std::to_string(std::clamp<std::size_t>(number, 1, frames())));
}

void PageModel::play(bool on, double now) {
  next_frame_.reset();
  if (!on || frames() == 0) return;
  if (frame() == frames()) show_frame(1);
  next_frame_ = now + kFrameSeconds;
}

// The next frame of a figure that plays, when its time has come. True if it is another.
bool PageModel::advance(double now) {
  if (!next_frame_ || now < *next_frame_) return false;
  if (frame() == frames()) {
    next_frame_.reset();
    return true;
  }
  show_frame(frame() + 1);
  next_frame_ = now + kFrameSeconds;
  return true;
}

void PageModel::show_whole(const lessons::FigureData& figure) {
  const lessons::Axis x = lessons::axes_of(figure).x;
  view().set_full({x.low, x.high});
}

void PageModel::reset_views() {
  for (TimelineView& each : views_) each.reset();
}

// What every figure of the page is made from.
lessons::FigureInput PageModel::input_of(const lessons::Figure& figure, int columns) const {
  lessons::FigureInput input;
  if (const RunOnShow* run = on_show()) input.run = run->ledger.get();
  if (const RunOnShow* a = run_a()) input.baseline = a->ledger.get();
  if (lessons::follows_settings(figure)) {
    input.settings = &settings();
    input.sweep = page_->sweep;
  }
  const bool over_run = settings_drive() && !shows_prediction_ && shows_evidence() && shows(Layer::kPredicted);
  const bool beside = lessons::follows_settings(figure) || over_run;
  if (const RunOnShow* prediction = predicted(); beside && prediction != nullptr && !question_.hides())
    input.predicted = prediction->ledger.get();
  if (shows(Layer::kFormula) && !fills_with_formula() && formula_.recording != nullptr)
    input.formula = formula_.ledger.get();
  if (preview_ && preview_->run.recording != nullptr) input.predicted = preview_->run.ledger.get();
  input.beside = beside_ledgers_;
  input.view.columns = columns;
  if (figure.on_card || (figure.basis == lessons::Basis::kRun && has_step_settings()))
    input.view.card = card_of_figures();
  input.view.asked = question_.state() != Question::State::kNone;
  input.view.hidden = question_.hides() && !question_.spec()->figure.empty();
  return input;
}

lessons::FigureInput PageModel::input(int columns) const {
  const lessons::Figure& on_tab = shown_figure();
  lessons::FigureInput input = input_of(on_tab, columns);
  if (held_room_) input.view.guess_room = *held_room_;
  const bool predicted = shows_prediction_ && shows_runs();
  input.params = &(predicted ? prediction_params_ : figure_params_)[static_cast<std::size_t>(tab_)];
  const RunOnShow* const shown = on_show();
  const bool compared = answered_by_ != nullptr && shown != nullptr && shown->recording == answered_by_;
  const bool asked_here = question_.number() != nullptr && question_.spec()->figure == on_tab.id;
  if (!asked_here) return input;
  if (question_.hides() || question_.state() == Question::State::kWaiting || compared)
    input.view.guess = question_.guess();
  input.view.guess_open = question_.hides();
  if (question_.hides()) input.view.guess_room = std::max(input.view.guess_room, question_.highest_guess());
  return input;
}

void PageModel::hold_axis(bool on) {
  const lessons::Axis* const axis = lessons::guess_axis(figure_);
  const bool held = on && axis != nullptr && !question_.hides();
  if (held == held_room_.has_value()) {
    if (held) held_room_ = std::max(*held_room_, axis->high);
    return;
  }
  held_room_ = held ? std::optional(axis->high) : std::nullopt;
  stale_ = true;
}

std::string PageModel::answered_by() const {
  const auto run = std::ranges::find(runs_, answered_by_, &RunOnShow::recording);
  return answered_by_ == nullptr || run == runs_.end() ? std::string() : run->words();
}

bool PageModel::left_answer() const {
  return answered_by_ != nullptr && on_show() != nullptr && on_show()->recording != answered_by_;
}

lessons::FigureData PageModel::figure_among_words(const lessons::FigureBlock& block, int columns) const {
  const lessons::Figure& figure = *lessons::find_figure(block.figure);
  record::Params params(figure.schema);
  for (const lessons::Setting& setting : block.settings) (void)params.set(setting.key, std::string_view(setting.value));
  lessons::FigureInput input = input_of(figure, columns);
  input.params = &params;
  return figure.build(input);
}

void PageModel::show_figure(const lessons::FigureBlock& block) {
  const auto found = std::find_if(figures_.begin(), figures_.end(),
                                  [&](const lessons::Figure* each) { return each->id == block.figure; });
  if (found == figures_.end()) return;
  show_tab(static_cast<int>(found - figures_.begin()));
  figure_params_[static_cast<std::size_t>(tab_)] = record::Params(shown_figure().schema);
  view().reset();
  stale_ = true;
  for (const lessons::Setting& setting : block.settings) (void)set_figure_param(setting.key, setting.value);
}

const lessons::FigureData& PageModel::figure(int columns) {
  const auto same_view = [&] {
    return built_view_.zoom_range() == view().zoom_range() && built_view_.cursor() == view().cursor() &&
           built_view_.measure() == view().measure() && built_view_.kernel() == view().kernel() &&
           built_view_.find() == view().find() && built_guess_ == question_.guess() &&
           built_state_ == question_.state();
  };
  want_prediction();
  // The answer is at the peak, and the list beside it is of the peak where no cursor is.
  if (built_state_ == Question::State::kOpen && !question_.hides()) view().set_cursor(std::nullopt);
  follow_ladder();
  follow_formula();
  if (!stale_ && columns == built_columns_ && same_view()) return figure_;
  lessons::FigureInput wanted = input(columns);
  figure_ = lessons::FigureData{};
  if (view().zoomed()) {  // the whole axis is known from a picture of everything
    lessons::FigureInput whole = input(kFewColumns);
    const lessons::FigureData all = shown_figure().build(whole);
    if (all.head.empty_reason.empty()) show_whole(all);
  }
  if (const auto range = view().zoom_range()) {
    wanted.view.begin = range->begin;
    wanted.view.end = range->end;
  }
  wanted.view.cursor = view().cursor();
  wanted.view.kernel = view().kernel();
  wanted.view.find = view().find();
  if (const auto& marked = view().measure()) wanted.view.range = {marked->begin, marked->end};
  figure_ = shown_figure().build(wanted);
  build_until_run(wanted);
  const auto* timeline = lessons::panel_of<lessons::Timeline>(figure_);
  if (timeline != nullptr && timeline->hidden_from && !wanted.view.cursor) {
    // The list needs a moment, and the peak would be the answer.
    wanted.view.cursor = timeline->x.low + (*timeline->hidden_from - timeline->x.low) * kKnownMoment;
    figure_ = shown_figure().build(wanted);
  }
  if (!view().zoomed() && figure_.head.empty_reason.empty()) show_whole(figure_);
  if (figure_.head.source == record::Source::kLive && !growing()) figure_.head.source = record::Source::kRecorded;
  if (stale_ || built_state_ != question_.state()) {  // not where only the cursor or the zoom moved
    has_evidence_ = settings_drive() && !evidence().empty();
    compare();
    put_numbers();
    ++data_revision_;
  }
  built_view_ = view();
  built_guess_ = question_.guess();
  built_state_ = question_.state();
  built_columns_ = columns;
  stale_ = false;
  ++revision_;
  return figure_;
}

// A run has nothing to draw while its engine starts and the model is set up.
void PageModel::build_until_run(lessons::FigureInput& input) {
  until_run_ = nullptr;
  if (!growing() || figure_.head.empty_reason.empty()) return;
  const RunOnShow* stand_in = &before_run_;
  if (settings_drive() && !question_.hides()) {
    take_formula();
    stand_in = predicted() != nullptr ? predicted() : &formula_;
    input.params = &prediction_params_[static_cast<std::size_t>(tab_)];
    input.predicted = input.formula = nullptr;  // it would be drawn over itself
  }
  if (stand_in->recording == nullptr) return;
  input.run = stand_in->ledger.get();
  lessons::FigureData figure = shown_figure().build(input);
  if (!figure.head.empty_reason.empty()) return;
  figure_ = std::move(figure);
  until_run_ = stand_in;
}

// The words follow the settings of the run on show, and what it measured once that gives no answer away.
void PageModel::put_numbers() {
  const RunOnShow* shown = on_show();
  record::Params settings = control_.params();
  if (shown != nullptr) settings = record::Params::known_of(settings.schema(), shown->recording->info().params);
  const RunOnShow* run = question_.hides() ? nullptr : shown;
  const RunOnShow* a = question_.hides() ? nullptr : run_a();
  text_ = text_of(*page_,
                  {&settings, run == nullptr ? nullptr : run->ledger.get(), a == nullptr ? nullptr : a->ledger.get()});
}

void PageModel::compare() {
  comparison_.rows.clear();
  const RunOnShow* a = run_a();
  if (a == nullptr || question_.hides() || growing()) return;
  comparison_ = compare_runs(*a->ledger, *on_show()->ledger);
}

void PageModel::settle_question() {
  const RunOnShow* run = on_show();
  if (run == nullptr) return;
  const bool finished = shows_prediction_ ? !asked_ : shown_ != own_ || !control_.running();
  if (!finished || !question_.compare(*run->ledger)) return;
  answered_by_ = run->recording;
  stale_ = true;
}

// The place of the selected kernel among those found; their number where it is none of them.
std::size_t PageModel::found_at() const {
  const auto* lanes = lessons::panel_of<lessons::Lanes>(figure_);
  if (lanes == nullptr) return 0;
  const auto& found = lanes->found;
  const auto at = std::find_if(found.begin(), found.end(),
                               [&](const lessons::FoundSpan& each) { return view().kernel() == each.span; });
  return static_cast<std::size_t>(at - found.begin());
}

void PageModel::find_next(int direction) {
  const auto* lanes = lessons::panel_of<lessons::Lanes>(figure_);
  if (lanes == nullptr || lanes->found.empty()) return;
  const std::size_t count = lanes->found.size(), now = found_at();
  const std::size_t first = direction > 0 ? 0 : count - 1;
  const std::size_t next = now == count ? first : (now + count + static_cast<std::size_t>(direction + 1) - 1) % count;
  const lessons::FoundSpan& found = lanes->found[next];
  view().select(found.span);
  // Wide enough to be read, and with what is around it.
  constexpr double kAround = 30;
  const double length = std::min(view().visible().length(), kAround * (found.end - found.begin));
  const double middle = (found.begin + found.end) / 2;
  view().show({middle - length / 2, middle + length / 2});
  view().set_cursor(middle);
}

std::string PageModel::why_no_lanes() const {
  const RunOnShow* const run = on_show();
  if (run == nullptr || shows_prediction_ || growing() || question_.hides() || !settings().has("trace")) return {};
  if (lessons::panel_of<lessons::Timeline>(figure_) == nullptr) return {};
  return lessons::why_not_traced(*run->recording);
}

void PageModel::trace(double now) {
  if (!can_run()) return;
  if (!runs_here()) set_here();
  (void)set_param("trace", "on");
  run(now);
}

void PageModel::step_cursor(int direction) {
  const auto* timeline = lessons::panel_of<lessons::Timeline>(figure_);
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

std::optional<PageModel::Measured> PageModel::measured() {
  const RunOnShow* run = on_show();
  if (!view().measure() || run == nullptr || lessons::panel_of<lessons::Timeline>(figure_) == nullptr)
    return std::nullopt;
  const lessons::Figure& figure = shown_figure();
  const TimelineView::Range range = *view().measure();
  const auto total_at = [&](double x) {
    lessons::FigureInput one = input(kFewColumns);
    one.view.cursor = x;
    const lessons::FigureData data = figure.build(one);
    const auto* timeline = lessons::panel_of<lessons::Timeline>(data);
    return timeline != nullptr && timeline->alive ? timeline->alive->total : 0;
  };
  lessons::FigureInput inside = input(kFewColumns);
  inside.view.begin = range.begin;
  inside.view.end = range.end;
  const record::Bytes at_begin = total_at(range.begin), at_end = total_at(range.end);
  Measured measured{range.length(), at_end - at_begin, std::max(at_begin, at_end)};
  const lessons::FigureData data = figure.build(inside);
  for (const lessons::StackColumn& column : lessons::panel_of<lessons::Timeline>(data)->stack)
    measured.peak = std::max(measured.peak, std::accumulate(column.high.begin(), column.high.end(), record::Bytes{}));
  return measured;
}

}  // namespace headroom::app::page
