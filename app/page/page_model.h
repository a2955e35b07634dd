// One page being read: which run is looked at, the question, the settings, the view of the timeline. No drawing, so
// that every behavior can be tested by itself.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/common/predictions.h"
#include "app/common/step_plan.h"
#include "app/page/comparison.h"
#include "app/page/ladder.h"
#include "app/page/own_model.h"
#include "app/page/page_sources.h"
#include "app/page/page_text.h"
#include "app/page/question.h"
#include "app/page/run_control.h"
#include "app/page/run_on_show.h"
#include "app/page/task.h"
#include "app/page/timeline_view.h"
#include "app/page/ways_out.h"
#include "lessons/figure.h"
#include "lessons/pages/page.h"

namespace headroom::app::page {

struct Notice {
  enum class Kind { kTrouble, kOutOfMemory, kVerdict } kind = Kind::kTrouble;
  std::string head, body;
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
  // Of the figure on show.
  TimelineView& view() { return views_[static_cast<std::size_t>(tab_)]; }
  const TimelineView& view() const { return views_[static_cast<std::size_t>(tab_)]; }

  // The engines, which start after the first picture; null: there is none, what is played stays.
  void use(backend::Backend* runner, Predictions* predictions);

  // --- every frame, after the backends were polled; `news`: whether that changed anything. True if what is shown
  // changed. `now`: seconds on a steady clock.
  bool poll(double now, bool news);

  // --- settings, what they would take, and the runs that show it
  const record::Params& settings() const { return control_.params(); }
  // What is on show is always about the settings: a run that was made with them, else what is predicted. Elsewhere a
  // stored run stays until another is made.
  bool settings_drive() const;
  // Of this machine, or of the GPU that the settings ask for.
  record::DeviceKind device() const;
  // Whether this machine has what the settings run on. Else run() takes settings_here(), which any machine can run.
  bool runs_here() const;
  record::Params settings_here() const;
  void set_here();
  // The page begins with the run that it is about, and these are not its settings.
  bool left_the_begin() const;
  void back_to_begin() { show_run(0); }
  int changed() const { return static_cast<int>(changes().size()); }
  // Settings that are others than those.
  std::map<std::string, std::string> changes() const;
  // As it was before a restart: answer and task as their remembered() said it, then those settings. What this version does
  // not take has its default; a sentence each.
  std::vector<std::string> recall(const std::string& answer, const std::map<std::string, std::string>& changes,
                                  const std::string& pin = {}, const std::string& task = {});
  // Null: not asked for, or on its way.
  const RunOnShow* predicted() const;
  // Of runs(), those that were made with these settings: indices.
  std::vector<int> evidence() const;
  // The run on show is among them; then, of its last whole step, the peak. 0: it has none.
  bool shows_evidence() const;
  record::Bytes measured_peak() const;
  // Of a number such as the batch: where there are runs that differ from the settings in it alone.
  const std::vector<RunMark>& marks(std::string_view key);

  // --- runs
  // Why nothing can be run here: there is no engine, or it does not start; one sentence with the cure. Empty: it can.
  std::string why_no_engine() const;
  bool can_run() const { return control_.can_run() && why_no_engine().empty(); }
  // `budget`: seconds after which a stored run takes the place of one that is still on.
  void run(double now, std::optional<double> budget = {});
  void cancel() { control_.cancel(); }
  // Runs the largest batch that should fit the card and the next one under its limit; then sets the largest that ran.
  void try_border(double now);
  bool trying() const { return trial_.has_value(); }
  // Why that cannot be done here; empty: it can.
  std::string why_no_trial() const;
  // Seconds that both runs take, as estimated_seconds() says it.
  std::optional<double> estimated_trial_seconds() const;
  // What a run of these settings takes, and what this machine has for it; nothing: not known, or it would give the answer away.
  struct Needs {
    record::Bytes bytes = 0, of = 0;
  };
  std::optional<Needs> needs() const;
  // Seconds that a run would take: as measured with these settings, or by its work at the speed of the last run here, or
  // at that of such processors. Nothing: not known.
  std::optional<double> estimated_seconds() const;
  // A model's folder is read at once, and refused where it has none; its shape takes the place of the model that was chosen.
  record::Status set_param(std::string_view key, std::string_view value);
  // Of the settings, where they name a model's folder on this machine; null: they do not.
  const OwnModel* own_model() const;
  // Settings as they were before the last change, and after it. False: there is no other.
  bool undo() { return step_settings(before_, after_); }
  bool redo() { return step_settings(after_, before_); }
  // All settings at once.
  void adopt(const record::Params& params);

  // --- what is looked at
  const std::vector<RunOnShow>& runs() const { return runs_; }
  int shown_run() const { return shown_; }  // index into runs(); −1: nothing to show
  void show_run(int index);
  const RunOnShow* on_show() const;  // that run, or the prediction; null: nothing
  // Several stored runs may come later than the first picture. `base`: others of the same model and shape are compared
  // with it, until the reader pins or unpins one. `name`: by which a tour pins it.
  void add_stored(std::shared_ptr<const record::Recording> recording, bool base = false, std::string_view name = {});
  // The page was opened for a run of the reader's: what was answered and set on it before does not count.
  bool is_given() const { return given_; }
  // One that the reader made before a restart.
  void add_kept(std::shared_ptr<const record::Recording> recording, std::string_view name);
  // The reader's run that has ended and is worth a file; null: there is none, or it was asked for before.
  const RunOnShow* take_unkept();
  void note_kept(const RunOnShow& run, std::string name);
  void forget(int index);                                                              // one of the reader's runs
  std::vector<std::string> take_forgotten() { return std::exchange(forgotten_, {}); }  // files
  // Of another demo, for the figures that draw it beside the run on show.
  void add_beside(std::shared_ptr<const record::Recording> recording);
  // What a sweep of this page has got to. `show`: with a figure of it, else only where it is on show.
  void take_sweep(std::shared_ptr<const record::Recording> recording, bool show);
  // Run A: whatever is shown beside it is compared with it. The run that is shown can become A once it has ended.
  bool can_pin() const;
  void toggle_pin();  // pins the run on show; with a run A there, lets that go
  const RunOnShow* pinned() const { return pinned_.recording == nullptr ? nullptr : &pinned_; }
  // For recall(): empty where the page decides, "none", or the name of the reader's choice.
  std::string pin_name() const;
  const Comparison& comparison() const { return comparison_; }  // as of the last figure(); no rows: nothing to compare
  bool has_predictions() const;  // of memory of a training step; sweeps and calculations have none
  bool shows_prediction() const { return shows_prediction_; }
  // Why there is no prediction to look at; one sentence.
  std::string why_no_prediction() const;
  // What is on show is of other settings, and the prediction for these takes longer than one notices.
  bool awaits_prediction() const { return shows_prediction_ && late_; }
  // What the figure is of until the run on show has anything to draw: what is predicted for it or, where settings do not
  // drive, the run that was on show before. Null: nothing is awaited.
  const RunOnShow* until_run() const { return until_run_; }
  // Whether the step fits on its card, and up to which batch. Null: not the question, or it would answer the page's.
  const StepPlan* plan() const { return plan_ && !question_.hides() ? &*plan_ : nullptr; }
  // The mouse is on a link that sets these; none: on no link. Until it leaves, what is predicted with them is a line over the
  // figure. In every frame.
  void preview(std::span<const lessons::Setting> changes);
  std::optional<record::Bytes> previewed_peak() const;  // once it is known
  // Whether the figure on show has a peak that can be held against a card, and none of it is to be guessed.
  bool has_verdict() const { return settings_drive() && !question_.hides(); }
  // The switches as of the last plan(); none before there is one.
  const std::vector<WayOut>& ways_out() const;
  std::vector<const WayOut*> shown_ways() const;
  void turn(const WayOut& way);
  void turn_last();  // the one that was turned last, over and over: with and without
  // While a switch is held the settings are those with it turned over; afterwards they are as before.
  void hold(const WayOut& way);
  void release();
  bool holding() const { return held_from_.has_value(); }
  // Null: this machine, or what the page's run was made on. A limit that is set comes first, and goes where a card is chosen.
  const predict::Card* chosen_card() const { return limit_set() > 0 ? nullptr : chosen_card_; }
  void choose_card(const predict::Card* card);
  std::optional<PlannedCard> card() const;  // that the settings are for

  // --- layers of a figure of memory, on one axis: what was measured fills it, else the prediction, else the closed form; the
  // others are lines over it.
  enum class Layer : unsigned char { kFormula, kPredicted, kMeasured };
  bool offers(Layer layer) const;  // where the figure has it
  bool shows(Layer layer) const;
  std::string why_fixed(Layer layer) const;  // why show() would change nothing; empty: it would
  void show(Layer layer, bool on);           // the last one that could fill the figure stays

  // --- the ladder: of a page whose figure on show is one, what is on show is the reader's, measured and predicted
  bool climbs() const { return shown_figure().basis == lessons::Basis::kLadder; }
  // Takes in other settings, another order and what was predicted. True: anything changed.
  bool follow_ladder();
  Ladder& ladder() { return *ladder_; }
  const Ladder& ladder() const { return *ladder_; }

  // --- tours
  // The view and the pin of a step; what it leaves open stays as it is.
  void show_view(const lessons::TourView& view);

  // --- figures
  int tab() const { return tab_; }  // which of the page's figures
  void show_tab(int index);
  const lessons::Figure& shown_figure() const { return *figures_[static_cast<std::size_t>(tab_)]; }
  // Settings of the figure on show, such as its time axis.
  const record::Params& figure_params() const { return figure_params_[static_cast<std::size_t>(tab_)]; }
  record::Status set_figure_param(std::string_view key, std::string_view value);
  // Of a figure that plays: which of its frames is shown, from 1, and how many there are (0: it does not play).
  std::size_t frame() const;
  std::size_t frames() const { return figure_.head.frames; }
  void show_frame(std::size_t number);
  bool plays() const { return next_frame_.has_value(); }
  // While the mouse is down on a control, the axis of the figure grows and does not shrink.
  void hold_axis(bool on);
  void play(bool on, double now);  // from the first frame where the last one is shown
  // A figure among the words, with the settings that they give it; and the same as the figure on show.
  lessons::FigureData figure_among_words(const lessons::FigureBlock& block, int columns) const;
  void show_figure(const lessons::FigureBlock& block);
  // Rebuilt when data, view or `columns` changed; `revision()` then is another.
  const lessons::FigureData& figure(int columns);
  int revision() const { return revision_; }
  // Another only where data, settings or the state of the question changed, not at moves of cursor and zoom.
  int data_revision() const { return data_revision_; }
  // Moves the cursor to the next (+1) or previous (−1) change of the stack.
  void step_cursor(int direction);

  struct Measured {
    double length = 0;         // axis units
    record::Bytes change = 0;  // live bytes at the end less those at the begin
    record::Bytes peak = 0;    // highest in between
  };
  std::optional<Measured> measured();

  // Of the run that the guess was compared with: "CPU: Tiny, 4 M, fp32, batch 4, 256 tokens"; and whether another is on show.
  std::string answered_by() const;
  bool left_answer() const;

  // --- kernels of the figure on show
  // Of those that bear the name that the view looks for: selects the next (+1) or previous (−1) one, and shows it.
  void find_next(int direction);
  std::size_t found_at() const;  // from 0; their number: the selected kernel is none of them
  // Why there are none below the memory of the run on show; empty: there are, or they are not to be expected.
  std::string why_no_lanes() const;
  void trace(double now);  // runs with these settings, traced

  // --- words about the last run
  std::optional<Notice> notice() const;
  std::string status_line() const;
  // `headroom figures …` that writes the figure on show with these settings; empty: no command draws it.
  std::string as_command() const;

 private:
  static constexpr int kFewColumns = 64;  // enough for words and peaks of a figure that is not drawn

  record::Status set_model(std::string_view key, std::string_view value);
  predict::StepSettings step() const;  // of the settings, with the shape that a folder has
  void take_settings_of(const RunOnShow& run);
  void take_ladder_of(const RunOnShow& run);
  void preset_all(const record::Params& params);
  void note_speed();
  std::optional<double> estimated_seconds(const predict::StepSettings& step) const;
  void watch_budget(double now);
  void run_trial(double now);
  void end_trial();
  record::Bytes limit_of_card() const;  // what it leaves the allocator; 0: not known
  void show_settings();
  void remember(std::string_view key);
  bool step_settings(std::vector<record::Params>& from, std::vector<record::Params>& to);
  RunOnShow make_run(std::shared_ptr<const record::Recording> recording,
                     RunOnShow::From from = RunOnShow::From::kPage) const;
  bool has_step_settings() const;  // that the reader can change
  bool shows_runs() const { return shown_figure().basis == lessons::Basis::kRun; }
  bool growing() const;  // the run on show is being recorded
  void show_given(std::shared_ptr<const record::Recording> recording);
  int add_run(RunOnShow run);  // behind those from the same source; its index
  void drop_oldest();
  void erase_run(int index);
  bool is_sweep(int run) const;
  void look_at(int run);
  void show_figure_of(int run);  // where the one on show is about sweeps, and the run is none, or the reverse
  void show_run_of_figure();
  void pin(std::string_view run);  // "base", "none", or a stored run by its name
  void pin_base();
  void want_prediction();
  const RunOnShow* run_a() const;
  void compare();
  void put_numbers();
  bool follow(RunOnShow& run, const std::shared_ptr<const record::Recording>& recording);
  void fill_with_prediction(bool on);
  Predictions* planner() const;  // null: there is none, or it has no answers now
  bool follow_planner();
  void ask_prediction();
  bool take_prediction();  // the answer, if it is there
  void take_closed_form();
  void follow_formula();
  void take_formula();  // of the settings, into formula_
  void build_until_run(lessons::FigureInput& input);
  bool formula_stands_in() const;  // for a prediction
  bool fills_with_formula() const { return shows_prediction_ && formula_stands_in(); }
  record::Bytes limit_set() const;  // 0: none
  std::optional<lessons::CardLimit> card_of_figures() const;
  bool plan_step(bool news);
  void reset_views();
  bool advance(double now);
  void show_whole(const lessons::FigureData& figure);
  void settle_question();
  bool follow_task(bool news);
  Task::Around around_task() const;
  lessons::FigureInput input(int columns) const;
  lessons::FigureInput input_of(const lessons::Figure& figure, int columns) const;

  const lessons::Page* page_;
  PageText text_;
  std::vector<const lessons::Figure*> figures_;
  Question question_;
  Task task_;
  RunControl control_;
  std::string why_no_engine_;  // not even a command to start one
  bool files_here_;
  mutable std::optional<record::Params> own_model_of_;  // settings that own_model_ was read for
  mutable std::optional<OwnModel> own_model_;
  Predictions* predictions_;
  bool planner_at_work_ = false;  // as of the last poll()

  std::vector<RunOnShow> runs_;
  int shown_ = -1;
  bool given_ = false;
  int own_ = -1;                                          // index of the run made here last, once there is one
  int sweep_ = -1;                                        // of the sweep made here
  std::shared_ptr<const record::Recording> answered_by_;  // what the guess was compared with
  RunOnShow pinned_;
  std::vector<std::shared_ptr<const record::Recording>> bases_;
  bool pinned_by_reader_ = false;  // or let go
  std::string wanted_pin_;         // of a run that is not there yet
  std::vector<std::string> forgotten_;
  std::optional<Trial> trial_;
  struct Marks {
    record::Params settings;
    std::size_t runs = 0;
    bool running = false;
    record::Bytes limit = 0;
    std::vector<RunMark> all;
  };
  std::map<std::string, Marks, std::less<>> marks_;  // by key, of the settings that they were worked out for
  std::vector<RunOnShow> beside_;
  std::vector<const record::Ledger*> beside_ledgers_;  // of those
  Comparison comparison_;
  std::unique_ptr<Ladder> ladder_ = std::make_unique<Ladder>();
  RunOnShow rungs_;  // of it
  RunOnShow prediction_;
  bool shows_prediction_ = false;
  std::array<bool, 3> wanted_{false, true, true};  // by layer
  bool has_evidence_ = false;                      // as of the last figure()
  RunOnShow formula_;                              // a line over the figure
  std::optional<record::Params> formula_with_;
  std::string prediction_refusal_;
  struct Preview {
    record::Params params;
    RunOnShow run;  // without a recording: on its way, or refused
    bool answered = false;
  };
  std::optional<Preview> preview_;
  bool asked_ = false;              // the answer is on its way
  std::optional<double> asked_at_;  // when poll() first saw that
  bool late_ = false;
  RunOnShow before_run_;                  // that was on show when the run began
  const RunOnShow* until_run_ = nullptr;  // what the figure is of until that run has anything to draw
  std::unique_ptr<StepPlanner> planner_;  // for these settings; null: not begun
  std::optional<StepPlan> plan_;
  std::unique_ptr<WaysOut> ways_;
  const predict::Card* chosen_card_ = nullptr;
  // The switch that was turned last. Off, a switch has its default: what it was turned from may be something else.
  struct Turned {
    const predict::MemorySwitch* what = nullptr;
    record::Params from, to;
  };
  Turned last_turned_;
  std::optional<record::Params> held_from_;       // the settings before a switch was held
  std::vector<record::Params> before_, after_;    // settings, the last ones last
  std::string remembered_key_;                    // of the last change; empty: of several settings
  std::optional<record::Params> predicted_with_;  // settings of the question that was asked last

  int tab_ = 0;
  std::vector<record::Params> figure_params_, prediction_params_;  // of each figure
  std::vector<TimelineView> views_;                                // of each figure
  lessons::FigureData figure_;
  std::optional<double> held_room_;   // that the axis has at least
  std::optional<double> next_frame_;  // when it is shown; nothing: the figure does not play
  bool stale_ = true;
  int built_columns_ = 0;
  int revision_ = 0, data_revision_ = 0;
  TimelineView built_view_;
  std::optional<double> built_guess_;
  Question::State built_state_ = Question::State::kNone;
  std::string refusal_;                         // why the last Run did not start
  std::optional<double> budget_, budget_ends_;  // of the run that is on: seconds, and when they are over
  bool over_budget_ = false;                    // the last run ended so
  double started_flops_ = 0;                    // of the last run
  std::optional<double> flops_per_second_;      // of the last run that was completed
};

}  // namespace headroom::app::page
