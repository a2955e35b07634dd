// Asks the service, and falls back to the closed form.
#include "app/page/forecast.h"

#include "app/common/plan/step_plan.h"
#include "demos/experiments/demo.h"
#include "demos/predict/forms/form_recording.h"
#include "demos/predict/optimizers.h"
#include "demos/predict/step_settings.h"
#include "demos/predict/time/bound_times.h"
#include "demos/record/timeline.h"

namespace headroom::app::page {

namespace {

// Null: no run accepts these settings.
std::shared_ptr<const record::Recording> recording_of_form(const PlannedRun& run) {
  if (!experiments::trains(run.demo)) return nullptr;
  const auto form = closed_form_of(run.params);
  return form ? std::make_shared<record::Recording>(predict::recording_of(*form, run.params)) : nullptr;
}

// Predictions have the times of one card; those of other cards are set here.
std::shared_ptr<const record::Recording> timed(std::shared_ptr<const record::Recording> prediction,
                                               const PlannedRun& run, const predict::Card* card) {
  if (card == nullptr || card == predict::bound_card() || !experiments::trains(run.demo)) return prediction;
  return std::make_shared<record::Recording>(
      predict::with_bound_times(*prediction, predict::step_settings(run.params), *card));
}

}  // namespace

Predictions* Forecast::planner() const {
  return service_ != nullptr && service_->trouble().empty() ? service_ : nullptr;
}

bool Forecast::planner_changed() {
  const bool here = planner() != nullptr;
  if (here == std::exchange(had_planner_, here)) return false;
  ++revision_;
  return true;
}

void Forecast::ask(const record::Params& settings, const PlannedRun& run) {
  settings_ = settings;
  if (planner() == nullptr || run_.recording == nullptr || by_closed_form()) take_closed_form(run);
  asks_ = service_ != nullptr;
}

bool Forecast::take(const PlannedRun& run, const predict::Card* card) {
  if (!asks_) return false;
  const auto answer = service_->ask(this, run);
  if (answer == nullptr) return false;
  asks_ = false;
  refusal_ = answer->refusal;
  if (*answer)
    follow(run_, timed(answer->recording, run, card));
  else
    take_closed_form(run);  // run_ still belongs to earlier settings
  ++revision_;
  return true;
}

void Forecast::take_closed_form(const PlannedRun& run) {
  run_ = RunOnShow{};
  follow(run_, recording_of_form(run));
  ++revision_;
}

bool Forecast::by_closed_form() const {
  return run_.recording != nullptr && run_.recording->info().source == record::Source::kFormula;
}

const RunOnShow* Forecast::predicted(const record::Params& settings) const {
  return !asks_ && is_for(settings) && !by_closed_form() ? run() : nullptr;
}

std::string Forecast::why_none() const {
  if (service_ == nullptr) return why_no_service_.empty() ? "There is no engine to predict with." : why_no_service_;
  if (std::string trouble = service_->trouble(); !trouble.empty()) return trouble;
  if (!asks_ && !refusal_.empty()) return refusal_;
  return "The prediction is being computed.";
}

bool Forecast::note_time(double now) {
  constexpr double kNoticed = 0.1;  // seconds
  if (!asks_) asked_at_.reset();
  if (asks_ && !asked_at_) asked_at_ = now;
  const bool late = asked_at_ && now - *asked_at_ > kNoticed;
  return std::exchange(is_late_, late) != late;
}

void Forecast::take_formula(const record::Params& settings, const PlannedRun& run) {
  formula_settings_ = settings;
  formula_ = RunOnShow{};
  follow(formula_, recording_of_form(run));
  ++revision_;
}

bool Forecast::has_preview_for(const record::Params& settings) const {
  return preview_ && preview_->answered && preview_->settings == settings;
}

void Forecast::preview(const record::Params& settings, const PlannedRun& run) {
  if (!preview_ || !(preview_->settings == settings))
    preview_ = Preview{.settings = settings, .run = {}, .answered = false};
  const auto answer = service_->ask(&preview_, run);
  if (answer == nullptr) return;
  preview_->answered = true;
  if (*answer) follow(preview_->run, answer->recording);
  ++revision_;
}

void Forecast::drop_preview() {
  if (!preview_) return;
  preview_.reset();
  if (service_ != nullptr) service_->drop(&preview_);
  ++revision_;
}

const RunOnShow* Forecast::previewed() const {
  return preview_ && preview_->run.recording != nullptr ? &preview_->run : nullptr;
}

std::optional<record::Bytes> Forecast::previewed_peak() const {
  const RunOnShow* const run = previewed();
  const auto step = run == nullptr ? std::nullopt : record::last_whole_step(*run->recording);
  if (!step) return std::nullopt;
  return run->ledger->peak(step->first, step->last).totals.allocated;
}

}  // namespace headroom::app::page
