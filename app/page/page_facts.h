// Facts derived from a page's parts, and changes that concern several of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/common/plan/predictions.h"
#include "app/common/plan/step_plan.h"
#include "app/page/page_model.h"
#include "demos/backend/backend.h"
#include "demos/predict/step_settings.h"
#include "lessons/card_limit.h"
#include "lessons/pages/blocks/figure.h"
#include "lessons/pages/course.h"

namespace headroom::app::page {

// True if the reader can change a training step's settings.
bool has_step_settings(const PageModel& page);
// True if the figure follows the settings, showing a run with them or else a prediction. On other pages a stored run
// stays until the next run.
bool settings_drive(const PageModel& page);
// True if the figure draws a training step's memory.
bool has_predictions(const PageModel& page);
// True if the figure is about a step that a card holds or not.
bool is_about_step(const PageModel& page);
// The same, unless the question hides the answer.
bool has_verdict(const PageModel& page);
// True if the answer of the open question will show a comparison with run A.
bool will_compare(const PageModel& page);
// True if the shown run is in progress.
bool is_growing(const PageModel& page);

record::DeviceKind device_of(const PageModel& page);
// Why this machine cannot run these settings, without the full stop, so that a run uses settings_here(). Empty: it can.
std::string why_not_here(const PageModel& page);
bool runs_here(const PageModel& page);
// The page's settings for a machine without a GPU that holds the run.
record::Params begin_here(const lessons::Page& page);
// The same with the reader's techniques.
record::Params settings_here(const PageModel& page);
// Why there is no engine, in one sentence with the cure.
std::string why_no_engine(const PageModel& page);
bool can_run(const PageModel& page);
// The step's model may come from the folder that the settings name.
predict::StepSettings step_of(const PageModel& page);
// Seconds measured with these settings, or else estimated from the FLOPs and the speed of the last run here or of a
// typical processor.
std::optional<double> estimated_seconds(const PageModel& page);
std::optional<double> estimated_seconds(const PageModel& page, const predict::StepSettings& step);
// FLOPs of all steps without recomputation: 6 per parameter and token, plus 12·L·A·D·T per token for attention's scores
// (Kaplan et al. 2020, section 2.1). Three steps of the 1B with 4 × 1,024 tokens need 96 TFLOP. A GPU computes one rank,
// the CPU all of them.
double run_flops(const predict::StepSettings& settings, bool on_cpu);
// A run's memory, and the memory available for it. Empty: unknown, or hidden by the question.
struct Needs {
  record::Bytes bytes = 0, of = 0;
};
std::optional<Needs> needs_of(const PageModel& page);

record::Bytes limit_set(const PageModel& page);  // the setting `cap`; 0: none
// Null: none, or a limit replaces it.
const predict::Card* chosen_card(const PageModel& page);
// A limit takes precedence. Without one, a CPU has its machine's memory, and a GPU is the chosen card, else this
// machine's, else that of the page's run.
std::optional<PlannedCard> card_of(const PageModel& page);
// The entry of the table of cards; null: the card is not in it.
const predict::Card* table_card_of(const PageModel& page);
// A limit that the reader set is named by its size.
std::optional<lessons::CardLimit> card_of_figures(const PageModel& page);
record::Bytes limit_of_card(const PageModel& page);  // the part left for the allocator; 0: unknown
PlannedRun planned(const PageModel& page, const record::Params& settings);
// The first device of this kind. Null if there is none or no engine.
const protocol::DeviceFacts* device_here(const backend::Backend* machine, record::DeviceKind kind);
bool has_gpu(const backend::Backend* machine);
// Null: none, or hidden by the question.
const StepPlan* plan_of(const PageModel& page);

// The stored run that the page opens with, or null.
const record::Recording* first_run(const PageModel& page);
// Initial settings, the same on every machine.
record::Params begin_of(const PageModel& page);
// A setting as text. The device "auto", which may mean another one elsewhere, is named.
std::string value_of(const PageModel& page, const record::ParamSpec& spec);
// True if the settings differ from those of the page's first run.
bool left_the_begin(const PageModel& page);
// Settings that differ from begin_of(), without files other than a checkpoint.
std::map<std::string, std::string> changes_of(const PageModel& page);
bool decides_work(const record::ParamSpec& spec);  // changes the step's computation
// Part of a set of settings: all but files, lengths and seeds of a run.
bool travels(const record::ParamSpec& spec);

// Slider marks: runs that differ from the settings only in `key`.
const std::vector<SettingMark>& marks_of(PageModel& page, std::string_view key);
// Why PageModel::try_border() cannot run.
std::string why_no_trial(const PageModel& page);
// Seconds for both runs of a trial.
std::optional<double> estimated_trial_seconds(const PageModel& page);

// True if the page runs the recording's demo and has a figure for such a run, sweep or ladder.
bool shows_run(const lessons::Page& page, const record::Recording& recording);
// The bench or the course's first page, if shows_run() is true for it.
const lessons::Page* page_of_run(const lessons::Course& course, const record::Recording& recording);
std::vector<int> evidence_of(const PageModel& page);  // indices of runs with these settings
bool shows_evidence(const PageModel& page);           // the shown run is one of them
bool ran_here(const PageModel& page);                 // one of them is the reader's
record::Bytes measured_peak(const PageModel& page);   // of the shown run's last complete step; 0: none
bool can_pin(const PageModel& page);
void toggle_pin(PageModel& page);
bool awaits_prediction(const PageModel& page);  // the shown prediction is outdated

// The page's settings with an advised set of switches.
record::Params with_set(const PageModel& page, const AdvisedSet& set);
void turn(PageModel& page, const WayOut& way);
void turn_last(PageModel& page);
// The page's settings with those of a link; empty if the page lacks one or refuses it.
std::optional<record::Params> with_changes(const PageModel& page, std::span<const lessons::Setting> changes);
// `wanted`: the settings under the mouse, drawn as a line. Call once per frame.
void preview(PageModel& page, const std::optional<record::Params>& wanted);
lessons::FigureData figure_among_words(const PageModel& page, const lessons::FigureBlock& block, int columns);
void show_figure(PageModel& page, const lessons::FigureBlock& block);
void trace(PageModel& page, double now);  // runs with tracing

}  // namespace headroom::app::page
