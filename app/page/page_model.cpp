// One page being read: its runs, run A, and what comes in from the backends.
#include "app/page/page_model.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "app/page/run_estimate.h"
#include "lessons/base_run.h"
#include "lessons/card_limit.h"
#include "lessons/wording.h"

namespace headroom::app::page {

PageModel::PageModel(const lessons::Page& page, const experiments::DemoInfo& demo, PageSources sources)
    : page_(&page),
      question_(page.question && sources.given == nullptr ? &*page.question : nullptr),
      task_(lessons::task_of(page)),
      control_(demo, sources.runner, std::move(sources.fixed_settings)),
      why_no_engine_(std::move(sources.why_no_engine)),
      files_here_(sources.files_here),
      predictions_(sources.predictions),
      chosen_card_(lessons::card_named(page.card)) {
  for (const std::string& id : page.figures)
    if (const lessons::Figure* figure = lessons::find_figure(id)) figures_.push_back(figure);
  for (const lessons::Figure* figure : figures_) {
    figure_params_.emplace_back(figure->schema);
    prediction_params_.emplace_back(figure->schema);
    views_.emplace_back();
    // A prediction is computed in no time: its events have an order only, beside others phase by phase.
    if (prediction_params_.back().has("axis") && !prediction_params_.back().set("axis", "phase"))
      (void)prediction_params_.back().set("axis", "event");
  }
  if (question_.hides() && !page.question->figure.empty())
    tab_ = static_cast<int>(std::find(page.figures.begin(), page.figures.end(), page.question->figure) -
                            page.figures.begin());
  set_here();
  for (auto& recording : sources.stored) add_stored(std::move(recording));
  if (sources.given != nullptr) show_given(std::move(sources.given));
  follow_ladder();
  put_numbers();
}

namespace {

// "H200", "CPU"
std::string device_of(const record::RunInfo& info) {
  constexpr std::string_view kMaker = "NVIDIA ";
  const auto gpu = info.provenance.find("gpu");
  if (info.device == record::DeviceKind::kCpu) return "CPU";
  if (gpu == info.provenance.end()) return "GPU";
  return gpu->second.starts_with(kMaker) ? gpu->second.substr(kMaker.size()) : gpu->second;
}

// "you, 12:04", or "you, 23 Nov" on another day, from "2026-11-23T11:04:31Z".
std::string made_at(const record::RunInfo& info) {
  std::tm utc{};
  const auto created = info.provenance.find("created");
  if (created == info.provenance.end() || strptime(created->second.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr)
    return "you";
  const std::time_t then = timegm(&utc), now = std::time(nullptr);
  std::tm there{}, here{};
  localtime_r(&then, &there);
  localtime_r(&now, &here);
  const bool today = there.tm_year == here.tm_year && there.tm_yday == here.tm_yday;
  std::array<char, 16> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), today ? "%H:%M" : "%d %b", &there);
  return "you, " + std::string(text.data(), length);
}

}  // namespace

RunOnShow PageModel::make_run(std::shared_ptr<const record::Recording> recording, RunOnShow::From from) const {
  RunOnShow run;
  run.from = from;
  run.ledger = std::make_shared<record::Ledger>(*recording);
  run.ledger->update();
  run.recording = std::move(recording);
  const record::Recording& recorded = *run.recording;
  run.label = lessons::settings_line(recorded.info());
  const bool own = from == RunOnShow::From::kReader || from == RunOnShow::From::kEarlierStart;
  run.where = own ? made_at(recorded.info()) : device_of(recorded.info());
  const bool sweep = !recorded.sweep_points().empty();
  const std::string techniques = sweep ? std::string() : techniques_of(recorded.info());
  if (!techniques.empty()) run.label.insert(0, techniques + "; ");
  if (sweep && !page_->sweep.empty()) run.label.insert(0, "Sweep; ");
  if (recorded.truncated()) run.label.insert(0, lessons::cut_off_words(recorded) + "; ");
  return run;
}

void PageModel::add_stored(std::shared_ptr<const record::Recording> recording, bool base, std::string_view name) {
  if (base) bases_.push_back(recording);
  RunOnShow run = make_run(std::move(recording));
  run.name = name;
  add_run(std::move(run));
  if (shown_ < 0) show_run(0);
  if (name == wanted_pin_ && !name.empty()) pin(name);
  follow_ladder();
  pin_base();
}

// Of a page that runs no training step all settings are taken: none of them can be said to be the reader's own.
void PageModel::show_given(std::shared_ptr<const record::Recording> recording) {
  given_ = true;
  show_run(add_run(make_run(std::move(recording), RunOnShow::From::kEarlierStart)));
  if (!has_step_settings()) control_.show_params(runs_[static_cast<std::size_t>(shown_)].recording->info().params);
}

int PageModel::add_run(RunOnShow run) {
  const auto behind = std::ranges::find_if(runs_, [&](const RunOnShow& each) { return each.from > run.from; });
  const int place = static_cast<int>(behind - runs_.begin());
  runs_.insert(behind, std::move(run));
  for (int* index : {&own_, &sweep_, &shown_})
    if (*index >= place) ++*index;
  return place;
}

void PageModel::add_beside(std::shared_ptr<const record::Recording> recording) {
  beside_.push_back(make_run(std::move(recording)));
  beside_ledgers_.push_back(beside_.back().ledger.get());
  stale_ = true;
}

void PageModel::take_sweep(std::shared_ptr<const record::Recording> recording, bool show) {
  RunOnShow sweep = make_run(std::move(recording), RunOnShow::From::kSweep);
  if (sweep_ >= 0)
    runs_[static_cast<std::size_t>(sweep_)] = std::move(sweep);
  else
    sweep_ = add_run(std::move(sweep));
  if (climbs()) return look_at(sweep_);  // in the order that the reader has by now
  if (show || shown_ == sweep_) show_run(sweep_);
}

bool PageModel::is_sweep(int run) const {
  return !runs_[static_cast<std::size_t>(run)].recording->sweep_points().empty();
}

void PageModel::show_figure_of(int run) {
  const auto of_sweeps = [](const lessons::Figure* figure) { return figure->basis == lessons::Basis::kSweep; };
  const bool sweep = is_sweep(run);
  if (page_->sweep.empty() || of_sweeps(&shown_figure()) == sweep) return;
  const auto of_run = [](const lessons::Figure* figure) { return figure->basis == lessons::Basis::kRun; };
  const auto found = sweep ? std::find_if(figures_.begin(), figures_.end(), of_sweeps)
                           : std::find_if(figures_.begin(), figures_.end(), of_run);
  if (found == figures_.end()) return;
  tab_ = static_cast<int>(found - figures_.begin());
  next_frame_.reset();
}

void PageModel::show_run_of_figure() {
  const lessons::Basis basis = shown_figure().basis;
  if (page_->sweep.empty() || basis == lessons::Basis::kParameters || shown_ < 0) return;
  const bool sweep = basis == lessons::Basis::kSweep;
  if (is_sweep(shown_) == sweep) return;
  int found = sweep ? sweep_ : own_;
  for (int i = 0; found < 0 && i < static_cast<int>(runs_.size()); ++i)
    if (is_sweep(i) == sweep) found = i;
  if (found >= 0) look_at(found);
}

// What a technique is compared with is pinned by the page: of the stored bases of the same model and shape as the
// run on show the one with the fewest other switches.
void PageModel::pin_base() {
  const RunOnShow* run = on_show();
  if (pinned_by_reader_ || bases_.empty() || run == nullptr) return;
  std::vector<const record::RunInfo*> infos;
  for (const auto& each : bases_) infos.push_back(&each->info());
  const auto nearest = lessons::nearest_base(run->recording->info(), infos);
  const auto base = nearest ? bases_.begin() + static_cast<std::ptrdiff_t>(*nearest) : bases_.end();
  if (base == bases_.end() ? pinned_.recording == nullptr : pinned_.recording == *base) return;
  pinned_ = RunOnShow{};
  for (const RunOnShow& each : runs_)
    if (base != bases_.end() && each.recording == *base) pinned_ = each;
  comparison_.rows.clear();
  stale_ = true;
}

const RunOnShow* PageModel::on_show() const {
  if (climbs()) return rungs_.recording == nullptr ? nullptr : &rungs_;
  if (shows_prediction_) return prediction_.recording == nullptr ? nullptr : &prediction_;
  return shown_ < 0 ? nullptr : &runs_[static_cast<std::size_t>(shown_)];
}

// Takes in what `recording` has gained, or another recording. True if anything changed.
bool PageModel::follow(RunOnShow& run, const std::shared_ptr<const record::Recording>& recording) {
  if (recording == nullptr) return false;
  if (run.recording != recording) {
    run = make_run(recording, run.from);
    return true;
  }
  const std::uint64_t before = run.ledger->size();
  run.ledger->update();
  return run.ledger->size() != before;
}

void PageModel::use(backend::Backend* runner, Predictions* predictions) {
  if (runner != nullptr) control_.use(runner);
  planner_.reset();  // it asks the old ones
  task_.forget();
  predictions_ = predictions;
  if (shows_prediction_) ask_prediction();
}

bool PageModel::poll(double now, bool news) {
  const bool ran = control_.running();
  bool changed = control_.poll(now, news);
  if (ran && !control_.running()) note_speed();
  changed = advance(now) || changed;
  if (own_ >= 0 && changed) {
    RunOnShow& own = runs_[static_cast<std::size_t>(own_)];
    follow(own, control_.recording());
    if (own.label.empty()) {  // what the run is about has only just arrived
      const RunOnShow made = make_run(own.recording, own.from);
      own.label = made.label;
      own.where = made.where;
    }
    stale_ = true;
  }
  watch_budget(now);
  if (trial_ && !control_.running()) {
    run_trial(now);
    changed = true;
  }
  changed = (asked_ && take_prediction()) || changed;
  changed = follow_planner() || changed;
  changed = follow_ladder() || changed;
  changed = plan_step(news) || changed;
  changed = follow_task(news) || changed;
  constexpr double kNoticed = 0.1;  // seconds until an answer is late
  if (!asked_) asked_at_.reset();
  if (asked_ && !asked_at_) asked_at_ = now;
  changed = std::exchange(late_, asked_at_ && now - *asked_at_ > kNoticed) != late_ || changed;
  if (question_.state() == Question::State::kWaiting) settle_question();
  return changed;
}

void PageModel::run(double now, std::optional<double> budget) {
  if (!can_run()) return;
  over_budget_ = false;
  budget_ = budget;
  if (!runs_here()) set_here();
  if (has_predictions()) started_flops_ = run_flops(step());
  const record::Status started = control_.start(now);
  refusal_ = started ? std::string() : started.error().message;
  if (!started) return;
  before_run_ = on_show() == nullptr ? RunOnShow{} : *on_show();
  // The backend's recording exists from the start on, empty at first.
  const auto recording = control_.recording();
  RunOnShow own = make_run(recording != nullptr ? recording : std::make_shared<const record::Recording>(),
                           RunOnShow::From::kReader);
  own_ = -1;
  own_ = add_run(std::move(own));
  drop_oldest();
  budget_ends_ = budget_ ? std::optional(now + *budget_) : std::nullopt;
  look_at(own_);
  show_figure_of(own_);
}

// A run that takes too long for the room is cancelled, and the page's stored one is shown.
void PageModel::watch_budget(double now) {
  if (!budget_ends_) return;
  if (control_.running()) {
    if (now > *budget_ends_ && !control_.cancelling()) control_.cancel();
    return;
  }
  const bool over = now > *std::exchange(budget_ends_, std::nullopt);
  if (!over || control_.outcome()->kind != record::OutcomeKind::kCancelled) return;
  if (runs_.front().from != RunOnShow::From::kPage) return;
  show_run(0);
  over_budget_ = true;
}

void PageModel::show_run(int index) {
  if (index < 0 || index >= static_cast<int>(runs_.size())) return;
  over_budget_ = false;
  wanted_[static_cast<std::size_t>(Layer::kMeasured)] = true;
  look_at(index);
  show_figure_of(index);
  take_settings_of(runs_[static_cast<std::size_t>(index)]);
}

void PageModel::look_at(int index) {
  if (shown_ != index || shows_prediction_) reset_views();
  shown_ = index;
  shows_prediction_ = false;
  comparison_.rows.clear();
  stale_ = true;
  pin_base();
  if (control_.fixed_settings().empty() || index == own_ || index == sweep_ || control_.running()) return;
  const auto& recording = runs_[static_cast<std::size_t>(index)].recording;
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
  wanted_pin_.clear();
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

}  // namespace headroom::app::page
