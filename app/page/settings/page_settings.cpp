// The settings follow the chosen run, and the figure follows the settings.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "demos/record/text.h"

namespace headroom::app::page {

std::vector<std::string> PageModel::recall(const std::string& answer, const std::map<std::string, std::string>& changes,
                                           const std::string& pin, const std::string& task) {
  std::vector<std::string> refused;
  run_a_.pin(pin, on_show(), runs_);
  if (!task.empty() && !task_.recall(task))
    refused.push_back(fmt::format("{} is not a state of this page's task.", record::quoted(task)));
  question_.recall(answer);
  if (!answer.empty() && question_.hides())
    refused.push_back(
        fmt::format("{} is not an answer to this question, so the question stays open.", record::quoted(answer)));
  if (question_.state() == Question::State::kWaiting) settle_question();
  if (!settings_drive(*this) || changes.empty()) return refused;
  record::Params wanted = settings();
  for (const auto& [key, value] : changes) {
    const record::Status set = wanted.set(key, std::string_view(value));
    if (!set && wanted.has(key))
      refused.push_back(fmt::format("{} The default, {}, is used.", set.error().message, wanted.as_text(key)));
    else if (!set)
      refused.push_back(fmt::format("{}={} changes nothing. {}", key, value, set.error().message));
  }
  adopt(wanted);
  history_.forget_changes();
  return refused;
}

void PageModel::preset(const record::Params& settings) {
  for (const record::ParamSpec& spec : settings.schema()) control_.preset(spec.key, settings.as_text(spec.key));
}

void PageModel::take(const record::Params& settings) {
  preset(settings);
  after_settings();
}

void PageModel::after_settings() {
  ++changes_;
  if (settings_drive(*this))
    show_settings();
  else if (shows_prediction_)
    ask_prediction();
  follow_ladder();
}

// Takes the run's settings, but keeps the reader's files, seeds and number of steps.
void PageModel::take_settings_of(const RunOnShow& run) {
  take_ladder_of(run);
  const record::RunInfo& info = run.recording->info();
  if (!has_step_settings(*this) || info.params.empty() || !run.recording->sweep_points().empty()) return;
  const record::Params made = record::Params::known_of(settings().schema(), info.params);
  for (const record::ParamSpec& spec : made.schema())
    if (decides_work(spec)) control_.preset(spec.key, made.as_text(spec.key));
  const bool ended_by_limit = info.cap > 0 && run.recording->outcome() && run.recording->outcome()->out_of_memory;
  control_.preset("cap", std::to_string(ended_by_limit ? info.cap : 0));
  if (device_of(*this) != info.device) control_.preset("device", record::setting_of(info.device));
}

// Shows a run with these settings, preferably the reader's, or else their prediction.
void PageModel::show_settings() {
  const std::vector<int> made = evidence_of(*this);
  const bool on_show = std::ranges::find(made, runs_.shown()) != made.end();
  if (!made.empty() && is_wanted(Layer::kMeasured)) {
    if (on_show && !shows_prediction_) return;
    const bool own = runs_[made.back()].from != RunOnShow::From::kPage;
    return look_at(on_show ? runs_.shown() : own ? made.back() : made.front());
  }
  if (shows_prediction_)
    ask_prediction();
  else
    fill_with_prediction(true);
}

const OwnModel* PageModel::own_model() const {
  return files_here_ && has_step_settings(*this) ? own_model_.of(settings()) : nullptr;
}

// A folder replaces the model and runs on this machine; choosing a model removes the folder.
record::Status PageModel::set_model(std::string_view key, std::string_view value) {
  record::Params wanted = settings();
  if (const record::Status set = wanted.set(key, value); !set) return set;
  const std::string begin = lessons::settings_of(*page_).text("model");
  const bool folder = key == "weights";
  (void)wanted.set(folder ? "model" : "weights", std::string_view(!folder ? "" : value.empty() ? begin : "custom"));
  if (folder && !value.empty()) (void)wanted.set("device", "auto");
  if (files_here_)
    if (const auto own = read_own_model(wanted); own && !own->trouble.empty()) return record::Error{own->trouble};
  adopt(wanted);
  return record::Ok{};
}

record::Status PageModel::set_param(std::string_view key, std::string_view value) {
  const bool has_folder = has_step_settings(*this) && !settings().text("weights").empty();
  if (has_step_settings(*this) && (key == "weights" || (key == "model" && has_folder && value != "custom")))
    return set_model(key, value);
  release();
  const record::Params before = settings();
  const record::Status status = control_.set(key, value);
  if (!status) return status;
  history_.remember(key, before);
  after_settings();
  return status;
}

void PageModel::adopt(const record::Params& settings) {
  release();
  if (settings == control_.params()) return;
  history_.remember("", control_.params());
  take(settings);
}

void PageModel::hold(const WayOut& way) {
  if (!way.turned || history_.holding() || control_.running()) return;
  verdict_.note_turned(way, settings());
  history_.hold(settings());
  take(record::Params(*way.turned));
}

void PageModel::release() {
  if (const auto before = history_.release()) take(*before);
}

bool PageModel::undo(int direction) {
  release();
  if (control_.running()) return false;
  const auto wanted = direction < 0 ? history_.undo(settings()) : history_.redo(settings());
  if (wanted) take(*wanted);
  return wanted.has_value();
}

}  // namespace headroom::app::page
