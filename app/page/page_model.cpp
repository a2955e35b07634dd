// Keeps a page's parts up to date.
#include "app/page/page_model.h"

#include <algorithm>
#include <utility>

#include "app/page/page_facts.h"
#include "demos/experiments/schemas.h"
#include "lessons/card_limit.h"
#include "lessons/pages/blocks/task.h"

namespace headroom::app::page {

PageModel::PageModel(const lessons::Page& page, const experiments::DemoInfo& demo, PageSources sources)
    : page_(&page),
      question_(page.question && sources.given == nullptr ? &*page.question : nullptr),
      task_(lessons::task_of(page)),
      control_(demo, sources.runner, std::move(sources.fixed_settings)),
      files_here_(sources.files_here),
      runs_(!page.sweep.empty()),
      forecast_(sources.predictions, std::move(sources.why_no_engine)),
      verdict_(lessons::card_named(page.card)),
      figures_(page) {
  if (question_.hides() && !page.question->figure.empty())
    figures_.show_tab(static_cast<int>(std::ranges::find(page.figures, page.question->figure) - page.figures.begin()));
  preset(page.recordings.empty() ? lessons::settings_of(page) : begin_here(page));
  for (auto& recording : sources.stored) add_run(std::move(recording), RunOnShow::From::kPage);
  if (sources.given != nullptr) {
    runs_.note_given();
    open_run(std::move(sources.given));
  }
  if (page.recordings.empty() && runs_.empty() && settings_drive(*this)) show_settings();
  follow_ladder();
  put_numbers();
}

void PageModel::use(backend::Backend* runner, Predictions* predictions) {
  if (runner != nullptr) control_.use(runner);
  verdict_.restart();  // the verdict's planner, like the task's, uses the old engines
  task_.forget();
  forecast_.use(predictions);
  if (shows_prediction_) ask_prediction();
}

bool PageModel::poll(double now, bool news) {
  bool changed = control_.poll(now, news);
  changed = figures_.advance(now) || changed;
  if (changed) runs_.follow_own(control_.recording());
  if (const auto budget = control_.take_over_budget(); budget && runs_[0].from == RunOnShow::From::kPage) {
    show_run(0);
    runs_.note_stands_in_for(*budget);
  }
  if (trial_ && !control_.running()) {
    run_trial(now);
    changed = true;
  }
  changed = take_prediction() || changed;
  changed = follow_planner() || changed;
  changed = follow_ladder() || changed;
  changed = follow_verdict(news) || changed;
  changed = follow_make_fit() || changed;
  changed = follow_task(news) || changed;
  changed = forecast_.note_time(now) || changed;
  if (question_.state() == Question::State::kWaiting) settle_question();
  return changed;
}

const RunOnShow* PageModel::on_show() const {
  if (figures_.draws_ladder()) return rungs_.recording == nullptr ? nullptr : &rungs_;
  return shows_prediction_ ? forecast_.run() : runs_.shown_run();
}

void PageModel::add_run(std::shared_ptr<const record::Recording> recording, RunOnShow::From from, std::string_view name,
                        bool base) {
  if (base) run_a_.add_base(recording);
  runs_.add(std::move(recording), from, name);
  const bool readers = from != RunOnShow::From::kPage;
  if (runs_.shown() < 0 && !readers) show_run(0);
  run_a_.take_named(name, on_show(), runs_);
  follow_ladder();
  run_a_.follow_base(on_show(), runs_);
  if (readers && has_verdict(*this)) show_settings();
}

// Without a training step, all settings come from the run.
void PageModel::open_run(std::shared_ptr<const record::Recording> recording) {
  if (question_.hides()) question_.skip();
  show_run(runs_.add(std::move(recording), RunOnShow::From::kEarlierStart));
  if (!has_step_settings(*this)) control_.show_params(runs_.shown_run()->recording->info().params);
}

void PageModel::show_run(int index) {
  if (index < 0 || index >= static_cast<int>(runs_.size())) return;
  wanted_[static_cast<std::size_t>(Layer::kMeasured)] = true;
  look_at(index);
  show_figure_of(index);
  take_settings_of(runs_[index]);
}

void PageModel::look_at(int index) {
  if (runs_.shown() != index || shows_prediction_) figures_.reset_views();
  runs_.mark_shown(index);
  shows_prediction_ = false;
  run_a_.compare(nullptr);
  run_a_.follow_base(on_show(), runs_);
  const bool made_here = index == runs_.own() || index == runs_.sweep();
  if (control_.fixed_settings().empty() || made_here || control_.running()) return;
  control_.show_params(runs_[index].recording->info().params);
}

void PageModel::show_figure_of(int run) {
  const bool sweep = runs_.is_sweep(run);
  if (page_->sweep.empty() || (figures_.shown().basis == lessons::Basis::kSweep) == sweep) return;
  if (const auto tab = figures_.tab_of(sweep ? lessons::Basis::kSweep : lessons::Basis::kRun)) figures_.show_tab(*tab);
}

void PageModel::show_run_of_figure() {
  const lessons::Basis basis = figures_.shown().basis;
  if (page_->sweep.empty() || basis == lessons::Basis::kParameters || runs_.shown() < 0) return;
  const bool sweep = basis == lessons::Basis::kSweep;
  if (runs_.shows_sweep() == sweep) return;
  if (const int found = runs_.first(sweep); found >= 0) look_at(found);
}

void PageModel::take_sweep(std::shared_ptr<const record::Recording> recording, bool show) {
  runs_.take_sweep(std::move(recording));
  if (figures_.draws_ladder()) return look_at(runs_.sweep());  // keeps the reader's current order
  if (show || runs_.shown() == runs_.sweep()) show_run(runs_.sweep());
}

void PageModel::forget(int index) {
  const bool shown = index == runs_.shown();
  if (!runs_.forget(index, control_.running()) || !shown) return;
  if (runs_.empty()) return show_settings();
  look_at(0);
  if (settings_drive(*this)) show_settings();
}

void PageModel::run(double now, std::optional<double> budget) {
  if (!can_run(*this)) return;
  if (!runs_here(*this)) preset(settings_here(*this));
  const double flops =
      has_predictions(*this) ? run_flops(step_of(*this), device_of(*this) == record::DeviceKind::kCpu) : 0;
  const RunOnShow before = on_show() == nullptr ? RunOnShow{} : *on_show();
  if (!control_.start(now, flops, budget)) return;
  before_run_ = before;
  const auto recording = control_.recording();
  runs_.start_own(recording != nullptr ? recording : std::make_shared<const record::Recording>());
  look_at(runs_.own());
  show_figure_of(runs_.own());
}

void PageModel::settle_question() {
  const RunOnShow* run = on_show();
  if (run == nullptr) return;
  const bool finished = shows_prediction_ ? !forecast_.asks() : !runs_.shows_own() || !control_.running();
  if (finished) question_.compare(*run->ledger, run->recording);
}

void PageModel::ask_prediction() {
  verdict_.restart();  // the verdict's questions would only delay the forecast's
  if (!history_.holding()) verdict_.follow_ways(settings());
  forecast_.ask(settings(), planned(*this, settings()));
  take_prediction();
}

bool PageModel::take_prediction() {
  if (!forecast_.asks() || !forecast_.take(planned(*this, *forecast_.settings()), table_card_of(*this))) return false;
  verdict_.restart();  // it may have used the closed form
  return true;
}

// Without an engine this uses the closed form.
void PageModel::want_prediction() {
  if (!is_about_step(*this)) return;
  const bool still_to_start = forecast_.service() == nullptr && forecast_.why_no_service().empty();
  if (still_to_start || question_.hides()) return;
  if (!forecast_.is_for(settings())) ask_prediction();
}

// The closed form replaces a planner while it is lost.
bool PageModel::follow_planner() {
  if (!forecast_.planner_changed()) return false;
  const bool here = forecast_.planner() != nullptr;
  if (here && !forecast_.asks() && forecast_.by_closed_form()) ask_prediction();
  if (!here && forecast_.asks()) {
    forecast_.take_closed_form(planned(*this, *forecast_.settings()));
    verdict_.restart();
  }
  return true;
}

bool PageModel::follow_verdict(bool news) {
  // clear() also drops the planner, which would not be asked again after its answer.
  if (!has_verdict(*this) || forecast_.run() == nullptr) return verdict_.clear();
  const bool by_formula = forecast_.by_closed_form() && forecast_.planner() == nullptr;
  if ((forecast_.asks() && !by_formula) || verdict_.rests(news)) return false;
  const std::optional<PlannedCard> on = card_of(*this);
  if (!on) return false;
  // The page is about its first switch.
  const std::span<const std::string> switches(page_->switches);
  return verdict_.follow({.settings = *forecast_.settings(),
                          .card = *on,
                          .service = by_formula ? nullptr : forecast_.service(),
                          .why_formula = forecast_.why_none(),
                          .own_keys = switches.first(std::min<std::size_t>(switches.size(), 1)),
                          .keeps_ways = history_.holding()});
}

bool PageModel::follow_make_fit() {
  if (!verdict_.make_fit().take_look() || !has_verdict(*this) || history_.holding()) return false;
  const std::optional<PlannedCard> on = card_of(*this);
  if (!on) return false;
  const bool by_formula = forecast_.planner() == nullptr;
  record::Params without_limit = settings();  // the card is the limit
  (void)without_limit.set("cap", "0");
  const bool changed = verdict_.make_fit().follow({.settings = std::move(without_limit),
                                                   .card = *on,
                                                   .service = by_formula ? nullptr : forecast_.service(),
                                                   .why_formula = forecast_.why_none()});
  if (changed && figures_.shown().takes_advice) ++changes_;
  return changed;
}

void PageModel::choose_card(const predict::Card* card) {
  const bool limited = limit_set(*this) > 0;
  if (card == verdict_.chosen_card() && !limited) return;
  verdict_.choose_card(card);
  if (forecast_.settings()) ask_prediction();
  if (limited) (void)set_param("cap", "0");
  verdict_.restart();
  ++changes_;
}

// A calculator's settings are converted to a training step's.
Task::Around PageModel::around_task() const {
  Task::Around around{.settings = {},
                      .device = device_of(*this),
                      .peak = {},
                      .runs = runs_.all(),
                      .predictions = page_->demo.empty() ? nullptr : forecast_.planner(),
                      .why_none = page_->demo.empty() ? "This page only calculates." : forecast_.why_none(),
                      .numbers = {}};
  const bool climbs = figures_.draws_ladder();
  if (page_->demo.empty()) around.device = record::DeviceKind::kGpu;
  const auto rung = climbs ? ladder_->last() : std::nullopt;
  around.settings = rung ? rung->settings : page_->demo.empty() ? experiments::step_params(settings()) : settings();
  if (rung) around.peak = Task::Peak{rung->peak, rung->by};
  if (const RunOnShow* const shown = on_show(); shown != nullptr && !climbs) around.numbers.run = shown->ledger.get();
  if (const RunOnShow* const a = run_a_.beside(on_show())) around.numbers.baseline = a->ledger.get();
  return around;
}

// Ignores held switches and trials, which are not the reader's choice.
bool PageModel::follow_task(bool news) {
  if (news) task_.hear_news();
  if (!task_.open() || question_.hides() || history_.holding() || trying() || control_.running()) return false;
  const bool still_to_start =
      forecast_.service() == nullptr && forecast_.why_no_service().empty() && !page_->demo.empty();
  if (still_to_start || (forecast_.asks() && forecast_.planner() != nullptr)) return false;
  const RunOnShow* const shown = on_show();
  const Task::Sign sign{shown == nullptr ? nullptr : shown->recording.get(), runs_.size(), forecast_.planner()};
  if (!task_.wants(settings(), sign)) return false;
  if (figures_.draws_ladder() && !ladder_->last()) return false;  // pending
  Task::Around around = around_task();
  around.numbers.settings = &around.settings;
  return task_.follow(around);
}

// The shown run takes precedence, then the sweep.
bool PageModel::follow_ladder() {
  if (!figures_.draws_ladder()) return false;
  const RunOnShow* const sweep = runs_.sweep() < 0 ? nullptr : &runs_[runs_.sweep()];
  Ladder::Around around{.settings = settings(),
                        .device = device_of(*this),
                        .runs = {},
                        .climbing = sweep != nullptr && !sweep->recording->outcome() ? sweep->recording : nullptr,
                        .hidden = question_.hides(),
                        .predictions = forecast_.service(),
                        .why_none = forecast_.planner() == nullptr ? forecast_.why_none() : std::string()};
  for (const RunOnShow* first : {runs_.shown_run(), sweep})
    if (first != nullptr) around.runs.push_back({first->recording, source_of(*first)});
  for (const RunOnShow& run : runs_.all()) around.runs.push_back({run.recording, source_of(run)});
  if (!ladder_->follow(around)) return false;
  follow(rungs_, ladder_->rungs());
  ++changes_;
  return true;
}

void PageModel::take_ladder_of(const RunOnShow& run) {
  const record::Recording& made = *run.recording;
  const auto& points = made.sweep_points();
  if (!figures_.draws_ladder() || points.empty() || points.front().series != "ladder") return;
  const record::Params first = record::Params::known_of(settings().schema(), points.front().params);
  for (const record::ParamSpec& spec : first.schema())
    if (spec.role == record::ParamRole::kShape) control_.preset(spec.key, first.as_text(spec.key));
  control_.preset("cap", std::to_string(made.info().cap));
  control_.preset("device", record::setting_of(made.info().device));
  ladder_->take_order(made);
}

}  // namespace headroom::app::page
