// An open page: keeps its settings, runs, forecast, verdict and figure consistent. No drawing.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/page/figure_on_show.h"
#include "app/page/forecast.h"
#include "app/page/ladder.h"
#include "app/page/question.h"
#include "app/page/run_control.h"
#include "app/page/runs.h"
#include "app/page/settings/history.h"
#include "app/page/settings/own_model.h"
#include "app/page/task.h"
#include "app/page/verdict.h"
#include "app/page/words/page_text.h"
#include "lessons/pages/page.h"

namespace headroom::app::page {

// A memory figure is filled by the measured run, else the prediction, else the closed form. The other layers are lines.
enum class Layer : unsigned char { kFormula, kPredicted, kMeasured };

struct LayerState {
  bool offered = false;
  bool shown = false;
  std::string why_fixed;  // why show() changes nothing
};

struct PageSources {
  backend::Backend* runner = nullptr;                            // not owned
  Predictions* predictions = nullptr;                            // not owned; may be null
  std::string why_no_engine;                                     // one sentence with the cure
  std::string fixed_settings;                                    // why settings cannot change
  bool files_here = true;                                        // false: the engine may be on another machine
  std::vector<std::shared_ptr<const record::Recording>> stored;  // the first is shown at once
  // Opened by the reader: shown first, with its settings and without a question.
  std::shared_ptr<const record::Recording> given;
};

// The trial of the largest batch.
struct Trial {
  record::Params before;
  std::vector<std::int64_t> left;  // batches still to run, taken from the back
  bool began = false;
  std::int64_t ran = 0;  // largest completed batch; 0: none
};

class PageModel {
 public:
  PageModel(const lessons::Page& page, const experiments::DemoInfo& demo, PageSources sources);

  const lessons::Page& page() const { return *page_; }
  const PageText& text() const { return text_; }
  Question& question() { return question_; }
  const Question& question() const { return question_; }
  const Task& task() const { return task_; }
  const RunControl& control() const { return control_; }
  Runs& runs() { return runs_; }
  const Runs& runs() const { return runs_; }
  RunA& run_a() { return run_a_; }
  const RunA& run_a() const { return run_a_; }
  Forecast& forecast() { return forecast_; }
  const Forecast& forecast() const { return forecast_; }
  Verdict& verdict() { return verdict_; }
  const Verdict& verdict() const { return verdict_; }
  FigureOnShow& figures() { return figures_; }
  const FigureOnShow& figures() const { return figures_; }
  const SettingsHistory& history() const { return history_; }
  Ladder& ladder() { return *ladder_; }

  // Engines start after the first frame. If `runner` is null, the current one stays.
  void use(backend::Backend* runner, Predictions* predictions);
  // Call once per frame, after polling the backends; `news`: they changed. `now`: seconds on a steady clock. True if
  // anything shown changed.
  bool poll(double now, bool news);

  const record::Params& settings() const { return control_.params(); }
  // A model's folder replaces the chosen model; folders without a model are refused.
  record::Status set_param(std::string_view key, std::string_view value);
  void adopt(const record::Params& settings);
  bool undo(int direction = -1);  // +1 redoes; false: there is nothing to do
  // Turns the switch until release().
  void hold(const WayOut& way);
  void release();
  // The model in the folder that the settings name, if it is on this machine.
  const OwnModel* own_model() const;
  // For restarts. Returns a sentence per value that this version refuses; such settings get their defaults.
  std::vector<std::string> recall(const std::string& answer, const std::map<std::string, std::string>& changes,
                                  const std::string& pin = {}, const std::string& task = {});

  const RunOnShow* on_show() const;  // the figure's run or prediction, or null
  void show_run(int index);
  // `base`: a candidate for run A, see RunA::add_base().
  void add_run(std::shared_ptr<const record::Recording> recording, RunOnShow::From from, std::string_view name = {},
               bool base = false);
  // Shows a reader's recording, with its settings.
  void open_run(std::shared_ptr<const record::Recording> recording);
  // `show`: switches to a figure of sweeps.
  void take_sweep(std::shared_ptr<const record::Recording> recording, bool show);
  void forget(int index);  // one of the reader's runs
  // After `budget` seconds, cancels the run and shows a stored one.
  void run(double now, std::optional<double> budget = {});
  // Runs the largest batch that should fit, then one larger. Sets the batch to the largest completed one.
  void try_border(double now);
  bool trying() const { return trial_.has_value(); }

  bool shows_prediction() const { return shows_prediction_; }  // true for the closed form, too
  LayerState layer(Layer layer) const;
  void show(Layer layer, bool on);  // the last layer that fills the figure stays
  // Null: this machine's card, or that of the page's run. Removes a limit.
  void choose_card(const predict::Card* card);

  void show_tab(int index);
  void show_view(const lessons::TourView& view);
  const lessons::FigureData& figure(int columns);
  lessons::FigureInput input_of(const lessons::Figure& figure, int columns) const;
  std::optional<FigureOnShow::Measured> measured();

 private:
  bool is_wanted(Layer layer) const { return wanted_[static_cast<std::size_t>(layer)]; }
  record::Status set_model(std::string_view key, std::string_view value);
  void preset(const record::Params& settings);  // without history or updates
  void take(const record::Params& settings);    // without history
  void after_settings();
  void show_settings();
  void take_settings_of(const RunOnShow& run);
  void take_ladder_of(const RunOnShow& run);
  void look_at(int run);
  void show_figure_of(int run);
  void show_run_of_figure();
  void run_trial(double now);
  void end_trial();
  void fill_with_prediction(bool on);
  bool fills_with_formula() const { return shows_prediction_ && forecast_.by_closed_form(); }
  bool offers(Layer layer) const;
  bool shows(Layer layer) const;
  std::string why_fixed(Layer layer) const;
  void want_prediction();
  void ask_prediction();
  bool take_prediction();
  bool follow_planner();
  bool follow_verdict(bool news);
  bool follow_make_fit();
  bool follow_task(bool news);
  bool follow_ladder();
  Task::Around around_task() const;
  void settle_question();
  int sources() const;
  void follow_formula();
  void build_until_run(int columns);
  void put_numbers();
  lessons::FigureInput input(int columns) const;

  const lessons::Page* page_;
  PageText text_;
  Question question_;
  Task task_;
  RunControl control_;
  bool files_here_;
  mutable OwnModelReader own_model_;
  SettingsHistory history_;
  Runs runs_;
  RunA run_a_;
  Forecast forecast_;
  Verdict verdict_;
  FigureOnShow figures_;
  std::unique_ptr<Ladder> ladder_ = std::make_unique<Ladder>();
  RunOnShow rungs_;
  bool shows_prediction_ = false;
  std::array<bool, 3> wanted_{false, true, true};  // by layer
  bool has_evidence_ = false;                      // as of the last figure()
  std::optional<Trial> trial_;
  RunOnShow before_run_;  // shown when the run began
  int changes_ = 0;       // to settings, layers, card and ladder
};

}  // namespace headroom::app::page
