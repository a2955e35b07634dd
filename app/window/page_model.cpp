// One page being read.
#include "app/window/page_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/common/summary.h"

namespace headroom::app::window {

namespace {

constexpr double kKnownMoment = 0.6;  // of what is shown before the answer: where the cursor stands at first
constexpr int kFewColumns = 64;       // enough for words and peaks of a figure that is not drawn

// "in the loss"
std::string_view when(record::Phase phase) {
  switch (phase) {
    case record::Phase::kSetup:
      return "before the first step";
    case record::Phase::kForward:
      return "in the forward pass";
    case record::Phase::kLoss:
      return "in the loss";
    case record::Phase::kRecompute:
      return "while computing a layer again";
    case record::Phase::kBackward:
      return "in the backward pass";
    case record::Phase::kOptimizer:
      return "in the optimizer";
    case record::Phase::kCopies:
      return "in a copy";
  }
  return "";
}

}  // namespace

PageModel::PageModel(const lessons::Page& page, PageText text, const experiments::DemoInfo& demo, PageSources sources)
    : page_(&page),
      text_(std::move(text)),
      question_(page.prediction),
      control_(demo, sources.runner, std::move(sources.fixed_settings)),
      planner_(sources.planner),
      replay_of_(std::move(sources.replay_of)) {
  for (const std::string_view id : page.figures)
    if (const lessons::Figure* figure = lessons::find_figure(id)) figures_.push_back(figure);
  for (const lessons::Figure* figure : figures_) {
    figure_params_.emplace_back(figure->schema);
    prediction_params_.emplace_back(figure->schema);
    views_.emplace_back();
    // A prediction is computed in no time: its events have an order only.
    if (prediction_params_.back().has("axis")) (void)prediction_params_.back().set("axis", "event");
  }
  for (const lessons::Setting& setting : page.settings) control_.preset(setting.key, setting.value);
  for (auto& recording : sources.stored) {
    const bool base = std::find(sources.bases.begin(), sources.bases.end(), recording) != sources.bases.end();
    add_stored(std::move(recording), base);
  }
}

RunOnShow PageModel::make_run(std::shared_ptr<const record::Recording> recording) const {
  RunOnShow run;
  run.ledger = std::make_shared<record::Ledger>(*recording);
  run.ledger->update();
  run.recording = std::move(recording);
  lessons::FigureInput words;
  words.run = run.ledger.get();
  words.view.columns = kFewColumns;
  run.label = figures_.front()->build(words).provenance_line;
  const record::Recording& recorded = *run.recording;
  const std::string techniques = recorded.sweep_points().empty() ? techniques_of(recorded.info()) : std::string();
  if (!techniques.empty()) run.label.insert(0, techniques + "; ");
  return run;
}

void PageModel::add_stored(std::shared_ptr<const record::Recording> recording, bool base) {
  if (base) bases_.push_back(recording);
  const auto place = runs_.begin() + (own_ < 0 ? static_cast<std::ptrdiff_t>(runs_.size()) : own_);
  runs_.insert(place, make_run(std::move(recording)));
  if (own_ >= 0) {
    if (shown_ >= own_) ++shown_;
    ++own_;
  }
  if (shown_ < 0) show_run(0);
  pin_base();
}

void PageModel::show_made(std::shared_ptr<const record::Recording> recording) {
  if (own_ < 0) {
    own_ = static_cast<int>(runs_.size());
    runs_.emplace_back();
  }
  runs_[static_cast<std::size_t>(own_)] = make_run(std::move(recording));
  show_run(own_);
}

// What a technique is compared with is pinned by the page: of the stored bases the one of the same model and shape as
// the run on show.
void PageModel::pin_base() {
  const RunOnShow* run = on_show();
  if (pinned_by_reader_ || bases_.empty() || run == nullptr) return;
  const auto alike = [&](const record::Recording& base) {
    const record::RunInfo &a = base.info(), &b = run->recording->info();
    const auto same = [&](const char* key) {
      const auto in_a = a.params.find(key), in_b = b.params.find(key);
      return in_a != a.params.end() && in_b != b.params.end() && in_a->second == in_b->second;
    };
    return a.device == b.device && same("model") && same("batch") && same("seq");
  };
  const auto base = std::find_if(bases_.begin(), bases_.end(), [&](const auto& each) { return alike(*each); });
  if (base == bases_.end() ? pinned_.recording == nullptr : pinned_.recording == *base) return;
  pinned_ = RunOnShow{};
  for (const RunOnShow& each : runs_)
    if (base != bases_.end() && each.recording == *base) pinned_ = each;
  comparison_.rows.clear();
  stale_ = true;
}

const RunOnShow* PageModel::on_show() const {
  if (shows_prediction_) return prediction_.recording == nullptr ? nullptr : &prediction_;
  return shown_ < 0 ? nullptr : &runs_[static_cast<std::size_t>(shown_)];
}

// Takes in what `recording` has gained, or another recording. True if anything changed.
bool PageModel::follow(RunOnShow& run, const std::shared_ptr<const record::Recording>& recording) {
  if (recording == nullptr) return false;
  if (run.recording != recording) {
    run = make_run(recording);
    return true;
  }
  const std::uint64_t before = run.ledger->size();
  run.ledger->update();
  return run.ledger->size() != before;
}

void PageModel::use(backend::Backend* runner, backend::Backend* planner) {
  if (runner != nullptr) control_.use(runner);
  planner_ = planner;
}

// Another page's question may have replaced the one that was asked here.
void PageModel::reopen() {
  if (asked_ == nullptr || planner_->recording() == asked_) return;
  predicted_with_.reset();
  asked_.reset();
  if (shows_prediction_) ask_planner();
}

bool PageModel::poll(double now, bool news) {
  bool changed = control_.poll(now, news);
  if (own_ >= 0 && changed) {
    RunOnShow& own = runs_[static_cast<std::size_t>(own_)];
    follow(own, control_.recording());
    if (own.label.empty()) own.label = make_run(own.recording).label;
    stale_ = true;
  }
  const bool mine = asked_ != nullptr && planner_->recording() == asked_;
  if (mine && planner_->state() == backend::RunState::kFinished) {
    follow(prediction_, std::exchange(asked_, nullptr));
    stale_ = stale_ || shows_prediction_ || figures_[static_cast<std::size_t>(tab_)]->of_settings;
    changed = true;
  }
  if (question_.state() == Question::State::kWaiting) settle_question();
  return changed;
}

void PageModel::run(double now) {
  if (!control_.can_run()) return;
  const record::Status started = control_.start(now);
  refusal_ = started ? std::string() : started.error().message;
  if (!started) return;
  if (own_ < 0) {
    own_ = static_cast<int>(runs_.size());
    runs_.emplace_back();
  }
  RunOnShow& own = runs_[static_cast<std::size_t>(own_)];
  own = RunOnShow{};
  // The backend's recording exists from the start on, empty at first.
  if (const auto recording = control_.recording())
    own = make_run(recording);
  else
    own = make_run(std::make_shared<record::Recording>());
  if (answered_by_ == own_) answered_by_ = -1;
  show_run(own_);
}

record::Status PageModel::set_param(std::string_view key, std::string_view value) {
  const record::Status status = control_.set(key, value);
  if (status && shows_prediction_) ask_planner();
  if (status && figures_[static_cast<std::size_t>(tab_)]->of_settings) stale_ = true;
  return status;
}

void PageModel::show_run(int index) {
  if (index < 0 || index >= static_cast<int>(runs_.size())) return;
  if (shown_ != index || shows_prediction_) reset_views();
  shown_ = index;
  shows_prediction_ = false;
  stale_ = true;
  pin_base();
  if (!replay_of_ || index == own_ || control_.running()) return;
  const auto& recording = runs_[static_cast<std::size_t>(index)].recording;
  control_.use(replay_of_(recording));
  control_.show_params(recording->info().params);
}

bool PageModel::growing() const { return control_.running() && shown_ == own_ && !shows_prediction_; }

bool PageModel::can_pin() const {
  const RunOnShow* run = on_show();
  return shown_ >= 0 && !shows_prediction_ && !growing() && !question_.hides() && run != nullptr &&
         !compare_runs(*run->ledger, *run->ledger).rows.empty();
}

void PageModel::toggle_pin() {
  pinned_by_reader_ = true;
  if (pinned_.recording != nullptr)
    pinned_ = RunOnShow{};
  else if (can_pin())
    pinned_ = *on_show();
  comparison_.rows.clear();  // until the figure is built anew
  stale_ = true;
}

// The pinned run, unless it is the one on show.
const RunOnShow* PageModel::run_a() const {
  const RunOnShow* run = on_show();
  return pinned_.recording == nullptr || run == nullptr || run->recording == pinned_.recording ? nullptr : &pinned_;
}

void PageModel::show_prediction(bool on) {
  if (planner_ == nullptr || on == shows_prediction_) return;
  shows_prediction_ = on;
  reset_views();
  stale_ = true;
  if (on) ask_planner();
}

void PageModel::ask_planner() {
  backend::RunRequest request;
  request.demo = control_.demo().id;
  request.params = control_.params();
  const record::Status asked = planner_->start(request);
  planner_refusal_ = asked ? std::string() : asked.error().message;
  asked_ = asked ? planner_->recording() : nullptr;
  predicted_with_ = request.params;
}

// A figure of the settings shows what is predicted with them as well.
void PageModel::want_prediction() {
  if (planner_ == nullptr || !figures_[static_cast<std::size_t>(tab_)]->of_settings || question_.hides()) return;
  if (!predicted_with_ || !(*predicted_with_ == control_.params())) ask_planner();
}

std::string PageModel::why_no_prediction() const {
  if (planner_ == nullptr) return "There is no engine to predict with.";
  if (!planner_refusal_.empty()) return planner_refusal_;
  if (const auto& trouble = planner_->trouble(); trouble && !trouble->empty()) return *trouble;
  const auto& recording = prediction_.recording;
  if (asked_ == nullptr && recording != nullptr && recording->outcome() && !recording->outcome()->message.empty())
    return recording->outcome()->message;
  return "The prediction is on its way.";
}

void PageModel::show_tab(int index) {
  if (index < 0 || index >= static_cast<int>(figures_.size()) || index == tab_) return;
  tab_ = index;
  stale_ = true;
}

void PageModel::set_figure_param(std::string_view key, std::string_view value) {
  if (!figure_params_[static_cast<std::size_t>(tab_)].set(key, value)) return;
  view().reset();  // the same number is another place on another axis
  stale_ = true;
}

void PageModel::reset_views() {
  for (TimelineView& each : views_) each.reset();
}

lessons::FigureInput PageModel::input(int columns) const {
  lessons::FigureInput input;
  if (const RunOnShow* run = on_show()) input.run = run->ledger.get();
  if (const RunOnShow* a = run_a()) input.ghost = a->ledger.get();
  if (figures_[static_cast<std::size_t>(tab_)]->of_settings) {
    input.settings = &control_.params();
    const bool current = asked_ == nullptr && predicted_with_ && *predicted_with_ == control_.params();
    if (current && prediction_.recording != nullptr) input.predicted = prediction_.ledger.get();
  }
  input.params = &(shows_prediction_ ? prediction_params_ : figure_params_)[static_cast<std::size_t>(tab_)];
  input.view.columns = columns;
  input.view.asked = question_.state() != Question::State::kNone;
  input.view.veiled = question_.hides();
  const bool compared = answered_by_ >= 0 && answered_by_ == shown_ && !shows_prediction_;
  const lessons::Figure& on_tab = *figures_[static_cast<std::size_t>(tab_)];
  const bool asked_here = page_->prediction != nullptr && page_->prediction->figure == on_tab.id;
  if (!asked_here) return input;
  if (question_.hides() || question_.state() == Question::State::kWaiting || compared)
    input.view.guess = question_.guess();
  input.view.guess_locked = question_.locked();
  return input;
}

const lessons::FigureData& PageModel::figure(int columns) {
  const auto same_view = [&] {
    return built_view_.zoom_range() == view().zoom_range() && built_view_.cursor() == view().cursor() &&
           built_guess_ == question_.guess() && built_state_ == question_.state();
  };
  want_prediction();
  if (!stale_ && columns == built_columns_ && same_view()) return figure_;
  lessons::FigureInput wanted = input(columns);
  figure_ = lessons::FigureData{};
  if (view().zoomed()) {  // the whole axis is known from a picture of everything
    lessons::FigureInput whole = input(kFewColumns);
    const lessons::FigureData all = figures_[static_cast<std::size_t>(tab_)]->build(whole);
    if (all.empty_reason.empty()) view().set_full({all.x.low, all.x.high});
  }
  if (const auto range = view().zoom_range()) {
    wanted.view.begin = range->begin;
    wanted.view.end = range->end;
  }
  wanted.view.cursor = view().cursor();
  figure_ = figures_[static_cast<std::size_t>(tab_)]->build(wanted);
  if (figure_.veil_from && !wanted.view.cursor) {  // the list needs a moment, and the peak would be the answer
    wanted.view.cursor = figure_.x.low + (*figure_.veil_from - figure_.x.low) * kKnownMoment;
    figure_ = figures_[static_cast<std::size_t>(tab_)]->build(wanted);
  }
  if (!view().zoomed() && figure_.empty_reason.empty()) view().set_full({figure_.x.low, figure_.x.high});
  if (figure_.source == record::Source::kLive && !growing()) figure_.source = record::Source::kRecorded;
  compare();
  built_view_ = view();
  built_guess_ = question_.guess();
  built_state_ = question_.state();
  built_columns_ = columns;
  stale_ = false;
  ++revision_;
  if (question_.hides()) make_first_guess();
  return figure_;
}

void PageModel::compare() {
  comparison_.rows.clear();
  const RunOnShow* a = run_a();
  if (a == nullptr || question_.hides() || growing()) return;
  comparison_ = compare_runs(*a->ledger, *on_show()->ledger);
}

// Half-way between what is seen already and the top of the axis: a place to drag from, not a hint.
void PageModel::make_first_guess() {
  if (tab_ != 0) return;
  if (figure_.first_guess && question_.suggest(*figure_.first_guess)) stale_ = true;  // with it, next time
  if (figure_.first_guess || (figure_.stack.empty() && figure_.charts.empty())) return;
  double highest = 0;
  if (figure_.guess_chart < figure_.charts.size())
    for (const lessons::ChartSeries& series : figure_.charts[figure_.guess_chart].series)
      for (const lessons::ChartPoint& point : series.points) highest = std::max(highest, point.y);
  for (const lessons::StackColumn& column : figure_.stack) {
    double total = 0;
    for (const record::Bytes bytes : column.high) total += static_cast<double>(bytes);
    highest = std::max(highest, total);
  }
  if (question_.suggest((highest + lessons::guess_axis(figure_).high) / 2)) stale_ = true;
}

void PageModel::settle_question() {
  const RunOnShow* run = on_show();
  if (run == nullptr || shows_prediction_) return;
  const bool finished = shown_ != own_ || !control_.running();
  if (!finished || !question_.compare(*run->ledger)) return;
  answered_by_ = shown_;
  stale_ = true;
}

void PageModel::step_cursor(int direction) {
  if (figure_.stack.empty()) return;
  const double at = view().cursor().value_or(figure_.cursor ? figure_.cursor->position : figure_.x.low);
  const auto& stack = figure_.stack;
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
  if (!view().measure() || run == nullptr || figure_.stack.empty()) return std::nullopt;
  const lessons::Figure& timeline = *figures_[static_cast<std::size_t>(tab_)];
  const TimelineView::Range range = *view().measure();
  const auto total_at = [&](double x) {
    lessons::FigureInput one = input(kFewColumns);
    one.view.cursor = x;
    const lessons::FigureData data = timeline.build(one);
    return data.cursor ? data.cursor->total : 0;
  };
  lessons::FigureInput inside = input(kFewColumns);
  inside.view.begin = range.begin;
  inside.view.end = range.end;
  const record::Bytes at_begin = total_at(range.begin), at_end = total_at(range.end);
  Measured measured{range.length(), at_end - at_begin, std::max(at_begin, at_end)};
  for (const lessons::StackColumn& column : timeline.build(inside).stack) {
    record::Bytes total = 0;
    for (const record::Bytes bytes : column.high) total += bytes;
    measured.peak = std::max(measured.peak, total);
  }
  return measured;
}

std::optional<Notice> PageModel::notice() const {
  if (!refusal_.empty()) return Notice{Notice::Kind::kTrouble, "This run was refused", refusal_};
  if (const auto& trouble = control_.trouble(); trouble && !trouble->empty())
    return Notice{Notice::Kind::kTrouble, "No engine at work", *trouble};
  const auto& outcome = control_.outcome();
  const bool own_shown = own_ >= 0 && shown_ == own_ && !shows_prediction_;
  const RunOnShow* run = on_show();
  const std::uint64_t kept = run == nullptr ? 0 : run->recording->events().size();
  const auto out_of_memory = [](const record::Outcome& o) {
    return Notice{Notice::Kind::kOutOfMemory, fmt::format("Out of memory {}", when(o.out_of_memory->phase)),
                  explain(*o.out_of_memory)};
  };
  const auto composed = [&]() -> std::optional<Notice> {
    if (run == nullptr) return std::nullopt;
    const auto& provenance = run->recording->info().provenance;
    const auto trouble = provenance.find("kernels_trouble");
    if (trouble == provenance.end()) return std::nullopt;
    return Notice{Notice::Kind::kTrouble, "Without our kernels", trouble->second};
  };
  // What a stored run came to belongs to the picture of it.
  if (run != nullptr && !own_shown && !question_.hides() && run->recording->outcome() &&
      run->recording->outcome()->out_of_memory)
    return out_of_memory(*run->recording->outcome());
  if (!outcome || !own_shown) return composed();
  switch (outcome->kind) {
    case record::OutcomeKind::kCompleted:
    case record::OutcomeKind::kCancelled:
      return composed();
    case record::OutcomeKind::kOutOfMemory:
      if (question_.hides() || !outcome->out_of_memory) return std::nullopt;  // it would tell the answer
      return out_of_memory(*outcome);
    case record::OutcomeKind::kRefused:
      return Notice{Notice::Kind::kTrouble, "This run was refused", outcome->message};
    case record::OutcomeKind::kEngineLost:
      return Notice{Notice::Kind::kTrouble, "The engine stopped and is started again",
                    fmt::format("{} All {} events up to there are kept.", outcome->message,
                                record::format_count(static_cast<std::int64_t>(kept)))};
    case record::OutcomeKind::kFailed:
      return Notice{Notice::Kind::kTrouble, "The run failed",
                    fmt::format("{} All {} events up to there are kept.", outcome->message,
                                record::format_count(static_cast<std::int64_t>(kept)))};
  }
  return std::nullopt;
}

std::string PageModel::status_line() const {
  if (const backend::RunProgress* progress = control_.progress())
    return control_.cancelling()     ? "Cancelling"
           : progress->doing.empty() ? "Starting"
                                     : "Recording: " + progress->doing;
  const auto& outcome = control_.outcome();
  if (!outcome || own_ < 0) return {};
  const RunOnShow& own = runs_[static_cast<std::size_t>(own_)];
  if (own.recording == nullptr) return {};
  const std::string dropped = record::format_count(static_cast<std::int64_t>(own.recording->dropped_events()));
  const std::string seconds =
      control_.last_seconds() ? fmt::format("{:.1f} s", *control_.last_seconds()) : std::string();
  const auto steps = record::steps_of(*own.recording);
  const auto whole = std::count_if(steps.begin(), steps.end(), [](const record::StepRange& s) { return s.complete; });
  const char* how = outcome->kind == record::OutcomeKind::kCancelled                           ? "Cancelled after"
                    : outcome->kind == record::OutcomeKind::kOutOfMemory && !question_.hides() ? "Out of memory after"
                                                                                               : "Last run";
  std::string line =
      fmt::format("{} {}, {} {}, {} events dropped", how, seconds, whole, whole == 1 ? "step" : "steps", dropped);
  if (const auto loss = last_metric(*own.recording, record::MetricKind::kLoss))
    line += fmt::format(", loss {:.3f}", *loss);
  if (const auto speed = last_metric(*own.recording, record::MetricKind::kTokensPerSecond))
    line += fmt::format(", {} tokens/s", record::format_count(std::llround(*speed)));
  return line;
}

}  // namespace headroom::app::window
