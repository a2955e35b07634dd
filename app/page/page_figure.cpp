// Fills the figure and applies a tour's view.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "app/page/page_facts.h"
#include "lessons/sources.h"

namespace headroom::app::page {

namespace {

constexpr double kMargin = 0.25;  // around a cursor outside the phase, in phase lengths

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

bool PageModel::offers(Layer layer) const {
  if (!has_predictions(*this) || !figures_.draws_runs() || question_.hides()) return false;
  switch (layer) {
    case Layer::kFormula:
      return fills_with_formula() || (settings_drive(*this) && figures_.draws_timeline());
    case Layer::kPredicted:
      return forecast_.planner() != nullptr || (shows_prediction_ && !fills_with_formula());
    case Layer::kMeasured:
      return runs_.shown() >= 0 && (has_evidence_ || !shows_prediction_ || !settings_drive(*this));
  }
  return false;
}

bool PageModel::shows(Layer layer) const {
  if (!offers(layer)) return false;
  switch (layer) {
    case Layer::kFormula:
      return fills_with_formula() || is_wanted(layer);
    case Layer::kPredicted:
      return shows_prediction_ ? !fills_with_formula() : is_wanted(layer);
    case Layer::kMeasured:
      return !shows_prediction_;
  }
  return false;
}

LayerState PageModel::layer(Layer layer) const { return {offers(layer), shows(layer), why_fixed(layer)}; }

std::string PageModel::why_fixed(Layer layer) const {
  if (layer == Layer::kMeasured || !offers(layer)) return {};
  if (layer == Layer::kPredicted && fills_with_formula()) return forecast_.why_none();
  const bool fills = shows_prediction_ && (layer == Layer::kPredicted || fills_with_formula());
  if (!fills || offers(Layer::kMeasured)) return {};
  return "The figure does not change, because there is no run with these settings.";
}

void PageModel::show(Layer layer, bool on) {
  const LayerState state = this->layer(layer);
  if (!state.offered || on == state.shown || !state.why_fixed.empty()) return;
  const bool fills = layer == Layer::kMeasured || (shows_prediction_ && layer == Layer::kPredicted) ||
                     (layer == Layer::kFormula && fills_with_formula());
  wanted_[static_cast<std::size_t>(layer)] = on;
  ++changes_;
  if (!fills) return;
  const bool measured = layer == Layer::kMeasured ? on : !on;
  wanted_[static_cast<std::size_t>(Layer::kMeasured)] = measured;
  if (!measured && forecast_.planner() != nullptr) wanted_[static_cast<std::size_t>(Layer::kPredicted)] = true;
  if (settings_drive(*this))
    show_settings();
  else
    fill_with_prediction(!measured);
}

void PageModel::fill_with_prediction(bool on) {
  if (on == shows_prediction_) return;
  shows_prediction_ = on;
  figures_.reset_views();
  run_a_.compare(nullptr);
  ++changes_;
  if (on) ask_prediction();
}

void PageModel::show_tab(int index) {
  if (index < 0 || index >= static_cast<int>(figures_.all().size()) || index == figures_.tab()) return;
  const bool drove = settings_drive(*this);
  figures_.show_tab(index);
  show_run_of_figure();
  // The previous figure ignored the run, which may have other settings.
  if (drove || !settings_drive(*this) || runs_.shown() < 0 || shows_evidence(*this)) return;
  if (history_.changed())
    show_settings();
  else
    show_run(runs_.shown());
}

// Positions refer to the whole step, so the figure is built without zoom first.
void PageModel::show_view(const lessons::TourView& asked) {
  if (!asked.run.empty()) show_run(runs_.named(asked.run));
  run_a_.pin(asked.pin, on_show(), runs_);
  if (asked.zoom.empty() && asked.cursor.empty()) return;
  const int tabs = static_cast<int>(figures_.all().size());
  int timeline_tab = 0;
  for (; timeline_tab < tabs; ++timeline_tab) {
    const lessons::Figure& figure = *figures_.all()[static_cast<std::size_t>(timeline_tab)];
    lessons::FigureInput each = input_of(figure, FigureOnShow::kFewColumns);
    each.params = &figures_.params_of(timeline_tab);
    if (lessons::panel_of<lessons::Timeline>(figure.build(each)) != nullptr) break;
  }
  if (timeline_tab == tabs) return;
  show_tab(timeline_tab);
  TimelineView& view = figures_.view();
  if (!asked.zoom.empty()) view.fit_all();
  const lessons::FigureData figure = figures_.shown().build(input(FigureOnShow::kFewColumns));
  const auto* timeline = lessons::panel_of<lessons::Timeline>(figure);
  if (timeline == nullptr) return;
  figures_.show_whole(figure);
  if (asked.cursor == "begin") view.set_cursor(timeline->x.low);
  if (asked.cursor == "end") view.set_cursor(timeline->x.high);
  if (asked.cursor == "peak" && timeline->peak) view.set_cursor(timeline->peak->x);
  const auto phase = phase_named(asked.zoom);
  auto range = phase ? range_of(*timeline, *phase) : std::nullopt;
  if (!range) return;
  // The loss's peak is often early in the backward pass, so the range includes the cursor.
  const double margin = kMargin * range->length();
  if (const auto cursor = asked.cursor.empty() ? std::nullopt : view.cursor()) {
    range->begin = std::min(range->begin, std::max(*cursor - margin, timeline->x.low));
    range->end = std::max(range->end, std::min(*cursor + margin, timeline->x.high));
  }
  view.show(*range);
}

lessons::FigureInput PageModel::input_of(const lessons::Figure& figure, int columns) const {
  const auto ledger_of = [](const RunOnShow* run) { return run == nullptr ? nullptr : run->ledger.get(); };
  const bool over_run =
      settings_drive(*this) && !shows_prediction_ && shows_evidence(*this) && shows(Layer::kPredicted);
  lessons::Sources sources{.run = ledger_of(on_show()),
                           .run_a = ledger_of(run_a_.beside(on_show())),
                           .prediction = question_.hides() ? nullptr : ledger_of(forecast_.predicted(settings())),
                           .settings = &settings(),
                           .beside = runs_.beside(),
                           .sweep = page_->sweep,
                           .card = card_of_figures(*this),
                           .runs_on_card = has_step_settings(*this)};
  if (over_run) sources.predicted_line = sources.prediction;
  if (limit_set(*this) == 0 && !question_.hides()) sources.advised = verdict_.make_fit().predicted_for(settings());
  if (shows(Layer::kFormula) && !fills_with_formula()) sources.formula_line = ledger_of(forecast_.formula());
  if (const RunOnShow* const previewed = forecast_.previewed())
    sources.prediction = sources.predicted_line = previewed->ledger.get();
  lessons::FigureInput input = lessons::inputs_for(figure, sources);
  input.view.columns = columns;
  input.view.asked = question_.state() != Question::State::kNone;
  input.view.hidden = question_.hides() && !question_.spec()->figure.empty();
  return input;
}

lessons::FigureInput PageModel::input(int columns) const {
  lessons::FigureInput input = input_of(figures_.shown(), columns);
  if (figures_.held_room()) input.view.guess_room = *figures_.held_room();
  const bool predicted = shows_prediction_ && figures_.draws_runs();
  input.params = predicted ? &figures_.params_of_prediction() : &figures_.params();
  const RunOnShow* const shown = on_show();
  const auto& answer = question_.compared_with();
  const bool compared = answer != nullptr && shown != nullptr && shown->recording == answer;
  const bool asked_here = question_.number() != nullptr && question_.spec()->figure == figures_.shown().id;
  if (!asked_here) return input;
  if (question_.hides() || question_.state() == Question::State::kWaiting || compared)
    input.view.guess = question_.guess();
  input.view.guess_open = question_.hides();
  if (question_.hides()) input.view.guess_room = std::max(input.view.guess_room, question_.highest_guess());
  return input;
}

int PageModel::sources() const { return runs_.revision() + run_a_.revision() + forecast_.revision() + changes_; }

const lessons::FigureData& PageModel::figure(int columns) {
  want_prediction();
  // Resets the cursor after the answer, so that the list shows the peak.
  if (figures_.built_open() && !question_.hides()) figures_.view().set_cursor(std::nullopt);
  follow_ladder();
  if (figures_.shown().takes_advice) verdict_.make_fit().look();
  if (shows(Layer::kFormula) && !fills_with_formula()) follow_formula();
  if (figures_.is_built(sources(), columns, question_)) return figures_.data();
  figures_.build(input(columns));
  build_until_run(columns);
  if (!is_growing(*this)) figures_.mark_recorded();
  if (figures_.note_built(sources(), columns, question_)) {
    has_evidence_ = settings_drive(*this) && !evidence_of(*this).empty();
    run_a_.compare(question_.hides() || is_growing(*this) ? nullptr : on_show());
    put_numbers();
    figures_.keep_room(input(columns));
  }
  return figures_.data();
}

void PageModel::follow_formula() {
  if (!forecast_.has_formula_for(settings())) forecast_.take_formula(settings(), planned(*this, settings()));
}

// Draws a stand-in, because a run has nothing to draw until the model is set up.
void PageModel::build_until_run(int columns) {
  if (!is_growing(*this) || figures_.data().head.empty_reason.empty()) return;
  lessons::FigureInput instead = input(columns);
  const RunOnShow* stand_in = &before_run_;
  if (settings_drive(*this) && !question_.hides()) {
    follow_formula();
    const RunOnShow* const prediction = forecast_.predicted(settings());
    stand_in = prediction != nullptr ? prediction : forecast_.formula();
    instead.params = &figures_.params_of_prediction();
    instead.predicted = instead.formula = nullptr;  // the stand-in is itself one of these layers
  }
  if (stand_in == nullptr || stand_in->recording == nullptr) return;
  instead.run = stand_in->ledger.get();
  figures_.build_instead(std::move(instead), *stand_in);
}

// Measurements are omitted while the question hides them.
void PageModel::put_numbers() {
  const RunOnShow* shown = on_show();
  record::Params settings = control_.params();
  if (shown != nullptr) settings = record::Params::known_of(settings.schema(), shown->recording->info().params);
  const RunOnShow* run = question_.hides() ? nullptr : shown;
  const RunOnShow* a = question_.hides() ? nullptr : run_a_.beside(on_show());
  text_ = text_of(*page_,
                  {&settings, run == nullptr ? nullptr : run->ledger.get(), a == nullptr ? nullptr : a->ledger.get()});
}

std::optional<FigureOnShow::Measured> PageModel::measured() {
  if (on_show() == nullptr || !figures_.view().measure()) return std::nullopt;
  return figures_.measured(input(FigureOnShow::kFewColumns));
}

}  // namespace headroom::app::page
