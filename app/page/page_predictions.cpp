// What is predicted for a page's settings, on which card it is to fit, and what the switches would change.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/page/card_choice.h"
#include "app/page/page_model.h"
#include "demos/predict/form_recording.h"

namespace headroom::app::page {

namespace {

// The first of a page's switches is what it is about.
std::span<const std::string> own_switch(const lessons::Page& page) {
  return std::span(page.switches).first(std::min<std::size_t>(page.switches.size(), 1));
}

// Null: no run would take these settings.
std::shared_ptr<const record::Recording> recording_of_form(const record::Params& settings) {
  const auto form = closed_form_of(settings);
  return form ? std::make_shared<record::Recording>(predict::recording_of(*form, settings)) : nullptr;
}

PlannedRun planned(const PageModel& page, const experiments::DemoInfo& demo, const record::Params& settings) {
  const std::optional<PlannedCard> card = page.card();
  return {std::string(demo.id), card ? settings_on(*card, settings) : settings};
}

}  // namespace

bool PageModel::has_predictions() const {
  const bool step = control_.demo().id == experiments::training_step().id;
  return step && (shows_runs() || shown_figure().basis == lessons::Basis::kSettings);
}

const RunOnShow* PageModel::predicted() const {
  const bool current = !asked_ && predicted_with_ && *predicted_with_ == settings();
  return current && prediction_.recording != nullptr && !formula_stands_in() ? &prediction_ : nullptr;
}

bool PageModel::formula_stands_in() const {
  return prediction_.recording != nullptr && prediction_.recording->info().source == record::Source::kFormula;
}

Predictions* PageModel::planner() const {
  return predictions_ != nullptr && predictions_->trouble().empty() ? predictions_ : nullptr;
}

// A planner that is gone leaves its place to the closed form; one that is back is asked what that stood in for.
bool PageModel::follow_planner() {
  const bool at_work = planner() != nullptr;
  if (at_work == std::exchange(planner_at_work_, at_work)) return false;
  if (at_work && !asked_ && formula_stands_in()) ask_prediction();
  if (!at_work && asked_) {
    take_closed_form();
    planner_.reset();
  }
  stale_ = true;
  return true;
}

void PageModel::ask_prediction() {
  predicted_with_ = control_.params();
  planner_.reset();  // what it asked would only be in the way
  if (ways_ != nullptr && !holding()) ways_->follow(settings());
  // Until the answer is there; what was predicted with other settings is better than nothing, but for a closed form.
  if (planner() == nullptr || prediction_.recording == nullptr || formula_stands_in()) take_closed_form();
  if (predictions_ == nullptr) return;
  asked_ = true;
  take_prediction();
}

bool PageModel::take_prediction() {
  const auto answer = predictions_->ask(this, planned(*this, control_.demo(), *predicted_with_));
  if (answer == nullptr) return false;
  asked_ = false;
  planner_.reset();  // it may have counted by the closed form
  prediction_refusal_ = answer->refusal;
  if (*answer)
    follow(prediction_, answer->recording);
  else
    take_closed_form();  // what is there was predicted with other settings
  stale_ = stale_ || shows_prediction_ || settings_drive() || lessons::follows_settings(shown_figure());
  return true;
}

void PageModel::preview(std::span<const lessons::Setting> changes) {
  record::Params wanted = settings();
  for (const lessons::Setting& change : changes)
    if (!wanted.has(change.key) || !wanted.set(change.key, std::string_view(change.value))) changes = {};
  if (changes.empty() || planner() == nullptr || !has_verdict() || wanted == settings()) {
    if (!std::exchange(preview_, std::nullopt)) return;
    if (predictions_ != nullptr) predictions_->drop(&preview_);
    stale_ = true;
    return;
  }
  if (!preview_ || !(preview_->params == wanted)) preview_ = Preview{.params = wanted, .run = {}, .answered = false};
  if (preview_->answered) return;
  const auto answer = predictions_->ask(&preview_, planned(*this, control_.demo(), wanted));
  if (answer == nullptr) return;
  preview_->answered = stale_ = true;
  if (*answer) follow(preview_->run, answer->recording);
}

std::optional<record::Bytes> PageModel::previewed_peak() const {
  if (!preview_ || preview_->run.recording == nullptr) return std::nullopt;
  const auto step = record::last_whole_step(*preview_->run.recording);
  if (!step) return std::nullopt;
  return preview_->run.ledger->peak(step->first, step->last).totals.allocated;
}

void PageModel::take_closed_form() {
  prediction_ = RunOnShow{};
  stale_ = true;
  if (control_.demo().id != experiments::training_step().id) return;
  follow(prediction_, recording_of_form(planned(*this, control_.demo(), *predicted_with_).params));
}

// The line of the closed form follows the settings.
void PageModel::follow_formula() {
  if (shows(Layer::kFormula) && !fills_with_formula()) take_formula();
}

void PageModel::take_formula() {
  if (formula_with_ && *formula_with_ == settings()) return;
  formula_with_ = settings();
  formula_ = RunOnShow{};
  follow(formula_, recording_of_form(planned(*this, control_.demo(), settings()).params));
  stale_ = true;
}

std::optional<PlannedCard> PageModel::card() const {
  return card_of(
      {.chosen = chosen_card_, .limit = limit_set(), .device = device(), .machine = control_.backend(), .runs = runs_});
}

record::Bytes PageModel::limit_set() const { return settings().has("cap") ? settings().integer("cap") : 0; }

// On a page whose settings run nothing there is none before one is chosen.
std::optional<lessons::CardLimit> PageModel::card_of_figures() const {
  std::optional<PlannedCard> on;
  if (has_step_settings())
    on = card();
  else if (chosen_card_ != nullptr)
    on = planned_card(*chosen_card_);
  return on ? std::optional(limit_of(*on, limit_set() > 0)) : std::nullopt;
}

// True if what is known of the step is more than before.
bool PageModel::plan_step(bool news) {
  if (!has_verdict() || prediction_.recording == nullptr) {
    planner_.reset();  // one that has answered would not be asked again when the verdict is back
    return std::exchange(plan_, std::nullopt).has_value();
  }
  const bool by_formula = formula_stands_in() && planner() == nullptr;
  if ((asked_ && !by_formula) || (planner_ != nullptr && !news)) return false;
  const std::optional<PlannedCard> on = card();
  if (!on) return false;
  Predictions* const service = by_formula ? nullptr : predictions_;
  if (planner_ == nullptr) {
    planner_ = std::make_unique<StepPlanner>(service, why_no_prediction(), nullptr, StepPlanner::Answers::kAtOnce);
  } else if (!planner_->waits()) {
    return ways_ != nullptr && ways_->poll();
  }
  record::Params without_limit = *predicted_with_;  // that is the card's
  (void)without_limit.set("cap", record::ParamValue(std::int64_t{0}));
  plan_ = planner_->plan(without_limit, {*on});
  if (!plan_) return true;
  plan_->params = *predicted_with_;
  if (planner_->waits()) return true;
  planner_->forget();
  if (plan_->refusal.empty() && !holding()) {  // the switches stay under the hand
    ways_ = std::make_unique<WaysOut>(service, why_no_prediction(), without_limit, *on, plan_->allocated,
                                      own_switch(*page_), ways_out());
    ways_->poll();
  }
  return true;
}

const std::vector<WayOut>& PageModel::ways_out() const {
  static const std::vector<WayOut> none;
  return ways_ == nullptr ? none : ways_->all();
}

std::vector<const WayOut*> PageModel::shown_ways() const {
  return ways_ == nullptr || plan() == nullptr ? std::vector<const WayOut*>{} : ways_->shown();
}

void PageModel::choose_card(const predict::Card* card) {
  const bool limited = limit_set() > 0;
  if (card == chosen_card_ && !limited) return;
  const record::Params before =
      predicted_with_ ? planned(*this, control_.demo(), *predicted_with_).params : record::Params();
  chosen_card_ = card;
  if (predicted_with_ && !(planned(*this, control_.demo(), *predicted_with_).params == before)) ask_prediction();
  if (limited) (void)set_param("cap", "0");
  planner_.reset();
  stale_ = true;
}

// It is there without asking, but where it would answer the question.
void PageModel::want_prediction() {
  if (!settings_drive() && shown_figure().basis != lessons::Basis::kSettings) return;
  const bool still_to_start = predictions_ == nullptr && why_no_engine_.empty();
  if (still_to_start || question_.hides()) return;
  if (!predicted_with_ || !(*predicted_with_ == control_.params())) ask_prediction();
}

std::string PageModel::why_no_engine() const {
  const backend::Backend* const backend = control_.backend();
  const bool never_there = predictions_ != nullptr && (backend == nullptr || backend->devices().empty());
  return why_no_engine_.empty() && never_there ? predictions_->trouble() : why_no_engine_;
}

std::string PageModel::why_no_prediction() const {
  if (predictions_ == nullptr) return why_no_engine_.empty() ? "There is no engine to predict with." : why_no_engine_;
  if (std::string trouble = predictions_->trouble(); !trouble.empty()) return trouble;
  if (!asked_ && !prediction_refusal_.empty()) return prediction_refusal_;
  return "The prediction is on its way.";
}

}  // namespace headroom::app::page
