// One page being read: its runs, its prediction, run A, and what comes in from the backends.
#include "app/page/page_model.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/page/evidence.h"
#include "demos/predict/form_recording.h"
#include "lessons/wording.h"

namespace headroom::app::page {

namespace {

bool has_gpu(const backend::Backend* machine) {
  return machine != nullptr && std::any_of(machine->devices().begin(), machine->devices().end(),
                                           [](const auto& device) { return device.kind == record::DeviceKind::kGpu; });
}

}  // namespace

PageModel::PageModel(const lessons::Page& page, const experiments::DemoInfo& demo, PageSources sources)
    : page_(&page),
      question_(page.question ? &*page.question : nullptr),
      control_(demo, sources.runner, std::move(sources.fixed_settings)),
      predictions_(sources.predictions),
      replay_of_(std::move(sources.replay_of)) {
  for (const std::string& id : page.figures)
    if (const lessons::Figure* figure = lessons::find_figure(id)) figures_.push_back(figure);
  for (const lessons::Figure* figure : figures_) {
    figure_params_.emplace_back(figure->schema);
    prediction_params_.emplace_back(figure->schema);
    views_.emplace_back();
    // A prediction is computed in no time: its events have an order only.
    if (prediction_params_.back().has("axis")) (void)prediction_params_.back().set("axis", "event");
  }
  set_here();
  for (auto& recording : sources.stored) add_stored(std::move(recording));
  put_numbers();
}

RunOnShow PageModel::make_run(std::shared_ptr<const record::Recording> recording) const {
  RunOnShow run;
  run.ledger = std::make_shared<record::Ledger>(*recording);
  run.ledger->update();
  run.recording = std::move(recording);
  const record::Recording& recorded = *run.recording;
  run.label = lessons::provenance_line(recorded.info());
  const bool sweep = !recorded.sweep_points().empty();
  const std::string techniques = sweep ? std::string() : techniques_of(recorded.info());
  if (!techniques.empty()) run.label.insert(0, techniques + "; ");
  if (sweep && !page_->sweep.empty()) run.label.insert(0, "Sweep; ");
  return run;
}

void PageModel::add_stored(std::shared_ptr<const record::Recording> recording, bool base, std::string_view name) {
  if (base) bases_.push_back(recording);
  int place = static_cast<int>(runs_.size());
  for (const int made : {own_, sweep_})
    if (made >= 0) place = std::min(place, made);
  runs_.insert(runs_.begin() + place, make_run(std::move(recording)))->name = name;
  for (int* index : {&own_, &sweep_, &shown_})
    if (*index >= place) ++*index;
  if (shown_ < 0) show_run(0);
  pin_base();
}

int PageModel::place_made(int& made) {
  if (made < 0) {
    made = static_cast<int>(runs_.size());
    runs_.emplace_back();
  }
  return made;
}

void PageModel::take_sweep(std::shared_ptr<const record::Recording> recording, bool show) {
  runs_[static_cast<std::size_t>(place_made(sweep_))] = make_run(std::move(recording));
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

// What a technique is compared with is pinned by the page: of the stored bases the one of the same model and shape as
// the run on show.
void PageModel::pin_base() {
  const RunOnShow* run = on_show();
  if (pinned_by_reader_ || bases_.empty() || run == nullptr) return;
  const auto base = std::find_if(bases_.begin(), bases_.end(), [&](const auto& each) {
    return lessons::same_shape(each->info(), run->recording->info());
  });
  if (base == bases_.end() ? pinned_.recording == nullptr : pinned_.recording == *base) return;
  pinned_ = RunOnShow{};
  for (const RunOnShow& each : runs_)
    if (base != bases_.end() && each.recording == *base) pinned_ = each;
  comparison_.rows.clear();
  stale_ = true;
}

const RunOnShow* PageModel::predicted() const {
  const bool current = !asked_ && predicted_with_ && *predicted_with_ == settings();
  const bool planned =
      prediction_.recording != nullptr && prediction_.recording->info().source != record::Source::kFormula;
  return current && planned ? &prediction_ : nullptr;
}

std::vector<int> PageModel::evidence() const {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(runs_.size()); ++i)
    if (is_evidence(*runs_[static_cast<std::size_t>(i)].recording, control_.demo().id, settings(), device()))
      found.push_back(i);
  return found;
}

bool PageModel::shows_evidence() const {
  return !shows_prediction_ && shown_ >= 0 &&
         is_evidence(*runs_[static_cast<std::size_t>(shown_)].recording, control_.demo().id, settings(), device());
}

bool PageModel::settings_drive() const {
  return has_predictions() && shows_runs() && control_.fixed_settings().empty();
}

record::DeviceKind PageModel::device() const {
  const std::string asked = settings().has("device") ? settings().text("device") : "auto";
  if (asked == "auto") return has_gpu(control_.backend()) ? record::DeviceKind::kGpu : record::DeviceKind::kCpu;
  return asked == "cpu" ? record::DeviceKind::kCpu : record::DeviceKind::kGpu;
}

bool PageModel::runs_here() const {
  return page_->here.empty() || !settings_drive() || device() == record::DeviceKind::kCpu ||
         has_gpu(control_.backend());
}

bool PageModel::left_the_begin() const {
  if (!settings_drive() || runs_.empty() || question_.hides()) return false;
  const std::vector<int> made = evidence();
  return !is_sweep(0) && std::find(made.begin(), made.end(), 0) == made.end();
}

int PageModel::changed() const {
  if (!left_the_begin()) return 0;
  const record::Params begin = record::Params::known_of(settings().schema(), runs_.front().recording->info().params);
  return static_cast<int>(std::ranges::count_if(begin.schema(), [&](const record::ParamSpec& spec) {
    return spec.role != record::ParamRole::kRun && settings().as_text(spec.key) != begin.as_text(spec.key);
  }));
}

// A first run on this machine: the page's own settings, and of the others those that the reader has changed.
void PageModel::set_here() {
  const record::Params before = settings();
  const bool began = !runs_.empty();
  const record::Params begin =
      began ? record::Params::known_of(before.schema(), runs_.front().recording->info().params) : before;
  control_.reset();
  for (const auto& settings : {page_->settings, page_->here})
    for (const lessons::Setting& setting : settings) control_.preset(setting.key, setting.value);
  if (!began) return;
  for (const record::ParamSpec& spec : before.schema())
    if (spec.role == record::ParamRole::kTechnique && before.as_text(spec.key) != begin.as_text(spec.key))
      (void)control_.set(spec.key, before.as_text(spec.key));
}

// What is computed, how, and on which device; files, seeds and the number of steps stay the reader's.
void PageModel::take_settings_of(const RunOnShow& run) {
  const record::RunInfo& info = run.recording->info();
  if (!settings_drive() || info.params.empty() || !run.recording->sweep_points().empty()) return;
  const record::Params made = record::Params::known_of(settings().schema(), info.params);
  for (const record::ParamSpec& spec : made.schema())
    if (spec.role != record::ParamRole::kRun) control_.preset(spec.key, made.as_text(spec.key));
  const bool ended_by_limit = info.cap > 0 && run.recording->outcome() && run.recording->outcome()->out_of_memory;
  control_.preset("cap", std::to_string(ended_by_limit ? info.cap : 0));
  if (device() != info.device) control_.preset("device", info.device == record::DeviceKind::kGpu ? "cuda" : "cpu");
}

// A run with these settings, the reader's own first; without one what is predicted.
void PageModel::show_settings() {
  const std::vector<int> made = evidence();
  const bool on_show = std::find(made.begin(), made.end(), shown_) != made.end();
  const bool own = std::find(made.begin(), made.end(), own_) != made.end();
  if (!made.empty() && !prefers_prediction_) {
    if (on_show && !shows_prediction_) return;
    return look_at(on_show ? shown_ : own ? own_ : made.front());
  }
  if (!std::exchange(shows_prediction_, true)) {
    reset_views();
    comparison_.rows.clear();  // until the figure is built anew
    stale_ = true;
  }
  ask_prediction();
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

void PageModel::use(backend::Backend* runner, Predictions* predictions) {
  if (runner != nullptr) control_.use(runner);
  planner_.reset();  // it asks the old ones
  predictions_ = predictions;
  if (shows_prediction_) ask_prediction();
}

bool PageModel::poll(double now, bool news) {
  bool changed = control_.poll(now, news);
  changed = advance(now) || changed;
  if (own_ >= 0 && changed) {
    RunOnShow& own = runs_[static_cast<std::size_t>(own_)];
    follow(own, control_.recording());
    if (own.label.empty()) own.label = make_run(own.recording).label;
    stale_ = true;
  }
  changed = (asked_ && take_prediction()) || changed;
  changed = plan_step(news) || changed;
  constexpr double kNoticed = 0.1;  // seconds until an answer is late
  if (!asked_) asked_at_.reset();
  if (asked_ && !asked_at_) asked_at_ = now;
  changed = std::exchange(late_, asked_at_ && now - *asked_at_ > kNoticed) != late_ || changed;
  if (question_.state() == Question::State::kWaiting) settle_question();
  return changed;
}

void PageModel::run(double now) {
  if (!control_.can_run()) return;
  if (!runs_here()) set_here();
  const record::Status started = control_.start(now);
  refusal_ = started ? std::string() : started.error().message;
  if (!started) return;
  RunOnShow& own = runs_[static_cast<std::size_t>(place_made(own_))];
  own = RunOnShow{};
  // The backend's recording exists from the start on, empty at first.
  if (const auto recording = control_.recording())
    own = make_run(recording);
  else
    own = make_run(std::make_shared<record::Recording>());
  look_at(own_);
  show_figure_of(own_);
}

record::Status PageModel::set_param(std::string_view key, std::string_view value) {
  remember(key);
  const record::Status status = control_.set(key, value);
  if (!status) before_.pop_back();
  if (status && settings_drive())
    show_settings();
  else if (status && shows_prediction_)
    ask_prediction();
  // The figure may follow the settings; the words do where there is no run to take their numbers from.
  if (status && (lessons::follows_settings(shown_figure()) || on_show() == nullptr)) stale_ = true;
  return status;
}

void PageModel::adopt(const record::Params& params) {
  if (params == control_.params()) return;
  remember("");
  for (const record::ParamSpec& spec : params.schema()) control_.preset(spec.key, params.as_text(spec.key));
  if (settings_drive()) show_settings();
  stale_ = true;
}

// Consecutive values of one setting, as of a slider that is dragged, are one step back.
void PageModel::remember(std::string_view key) {
  constexpr std::size_t kMost = 100;
  after_.clear();
  if (key.empty() || key != remembered_key_ || before_.empty()) before_.push_back(settings());
  if (before_.size() > kMost) before_.erase(before_.begin());
  remembered_key_ = key;
}

bool PageModel::step_settings(std::vector<record::Params>& from, std::vector<record::Params>& to) {
  if (from.empty() || control_.running()) return false;
  const record::Params wanted = from.back();
  from.pop_back();
  to.push_back(settings());
  remembered_key_.clear();
  for (const record::ParamSpec& spec : wanted.schema()) control_.preset(spec.key, wanted.as_text(spec.key));
  if (settings_drive()) show_settings();
  stale_ = true;
  return true;
}

void PageModel::show_run(int index) {
  if (index < 0 || index >= static_cast<int>(runs_.size())) return;
  prefers_prediction_ = false;
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
  if (!replay_of_ || index == own_ || index == sweep_ || control_.running()) return;
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

// Without a run of these settings the one that was on show last comes back, with its settings.
void PageModel::show_prediction(bool on) {
  if (!has_predictions() || on == shows_prediction_) return;
  prefers_prediction_ = on;
  if (!on && settings_drive() && evidence().empty()) return show_run(shown_);
  shows_prediction_ = on;
  reset_views();
  comparison_.rows.clear();  // until the figure is built anew
  stale_ = true;
  if (on) ask_prediction();
}

void PageModel::ask_prediction() {
  predicted_with_ = control_.params();
  planner_.reset();  // what it asked would only be in the way
  if (ways_ != nullptr) ways_->follow(settings());
  if (predictions_ == nullptr || prediction_.recording == nullptr) take_closed_form();  // until the answer is there
  if (predictions_ == nullptr) return;
  asked_ = true;
  take_prediction();
}

bool PageModel::take_prediction() {
  const auto answer = predictions_->ask(this, {std::string(control_.demo().id), *predicted_with_});
  if (answer == nullptr) return false;
  asked_ = false;
  prediction_refusal_ = answer->refusal;
  if (*answer)
    follow(prediction_, answer->recording);
  else
    take_closed_form();  // what is there was predicted with other settings
  stale_ = stale_ || shows_prediction_ || settings_drive() || lessons::follows_settings(shown_figure());
  return true;
}

void PageModel::take_closed_form() {
  prediction_ = RunOnShow{};
  stale_ = true;
  if (control_.demo().id != experiments::training_step().id) return;
  const auto form = closed_form_of(*predicted_with_);
  if (form) follow(prediction_, std::make_shared<record::Recording>(predict::recording_of(*form, *predicted_with_)));
}

std::optional<PlannedCard> PageModel::memory_of_cpu() const {
  if (control_.backend() == nullptr) return std::nullopt;
  for (const protocol::DeviceFacts& device : control_.backend()->devices())
    if (device.kind == record::DeviceKind::kCpu)
      return PlannedCard{.name = "this machine", .memory = device.memory, .process = {}};
  return std::nullopt;
}

// Of a GPU: the card that was chosen, the limit that is set, the GPU of this machine, or that of the page's run.
std::optional<PlannedCard> PageModel::card() const {
  if (device() == record::DeviceKind::kCpu) return memory_of_cpu();
  if (const predict::Card* const chosen = chosen_card_; chosen != nullptr)
    return PlannedCard{
        .name = chosen->name, .memory = *chosen->memory, .process = predict::process_bytes(chosen->name)};
  if (const record::Bytes cap = settings().integer("cap"); cap > 0)
    return PlannedCard{.name = "a limit of " + record::format_bytes(cap), .memory = cap, .process = {}};
  const auto of_gpu = [](const std::string& name, record::Bytes memory) {
    return PlannedCard{.name = name, .memory = memory, .process = predict::process_bytes(name)};
  };
  if (const backend::Backend* const backend = control_.backend())
    for (const protocol::DeviceFacts& device : backend->devices())
      if (device.kind == record::DeviceKind::kGpu) return of_gpu(device.name, device.memory);
  for (const RunOnShow& run : runs_) {
    const record::RunInfo& info = run.recording->info();
    const auto gpu = info.provenance.find("gpu");
    if (info.device == record::DeviceKind::kGpu && gpu != info.provenance.end() && info.device_memory > 0)
      return of_gpu(gpu->second, info.device_memory);
  }
  return std::nullopt;
}

// True if what is known of the step is more than before.
bool PageModel::plan_step(bool news) {
  if (!has_verdict() || prediction_.recording == nullptr) return std::exchange(plan_, std::nullopt).has_value();
  if (asked_ || (planner_ != nullptr && !news)) return false;
  const std::optional<PlannedCard> on = card();
  if (!on) return false;
  if (planner_ == nullptr) {
    planner_ = std::make_unique<StepPlanner>(predictions_, why_no_prediction(), nullptr, StepPlanner::Answers::kAtOnce);
  } else if (!planner_->waits()) {
    return ways_ != nullptr && ways_->poll();
  }
  record::Params without_limit = *predicted_with_;  // that is the card's
  (void)without_limit.set("cap", record::ParamValue(std::int64_t{0}));
  plan_ = planner_->plan(without_limit, {*on});
  if (!plan_) return true;
  plan_->params = *predicted_with_;
  if (!planner_->waits() && plan_->refusal.empty()) {
    ways_ =
        std::make_unique<WaysOut>(predictions_, why_no_prediction(), without_limit, *on, plan_->allocated, ways_out());
    ways_->poll();
  }
  return true;
}

const std::vector<WayOut>& PageModel::ways_out() const {
  static const std::vector<WayOut> none;
  return ways_ == nullptr ? none : ways_->all();
}

void PageModel::turn(const WayOut& way) {
  if (!way.turned) return;
  last_turned_ = way.what;
  adopt(record::Params(*way.turned));
}

void PageModel::turn_last() {
  const auto& ways = ways_out();
  const auto found = std::ranges::find(ways, last_turned_, &WayOut::what);
  if (found != ways.end()) turn(*found);
}

// What the process leaves of it.
lessons::CapLine PageModel::card_line() const {
  const auto left = *chosen_card_->memory - predict::process_bytes(chosen_card_->name).bytes;
  return {fmt::format("{} leaves {}", chosen_card_->name, record::format_bytes(left, 1)), static_cast<double>(left)};
}

void PageModel::choose_card(const predict::Card* card) {
  if (card == chosen_card_) return;
  chosen_card_ = card;
  if (settings().integer("cap") > 0) (void)set_param("cap", "0");
  planner_.reset();
  stale_ = true;
}

// It is there without asking, but where it would answer the question.
void PageModel::want_prediction() {
  if (!settings_drive() && shown_figure().basis != lessons::Basis::kSettings) return;
  if (predictions_ == nullptr || question_.hides()) return;
  if (!predicted_with_ || !(*predicted_with_ == control_.params())) ask_prediction();
}

std::string PageModel::why_no_prediction() const {
  if (predictions_ == nullptr) return "There is no engine to predict with.";
  if (!asked_ && !prediction_refusal_.empty()) return prediction_refusal_;
  return "The prediction is on its way.";
}

}  // namespace headroom::app::page
