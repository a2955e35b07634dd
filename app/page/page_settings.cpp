// The settings of a page: what is on show follows them, and they follow the run that is chosen.
#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/common/evidence.h"
#include "app/page/page_model.h"
#include "app/page/run_estimate.h"
#include "app/page/ways_out.h"
#include "demos/experiments/combinations.h"
#include "demos/record/text.h"

namespace headroom::app::page {

namespace {

bool has_gpu(const backend::Backend* machine) {
  return machine != nullptr && std::any_of(machine->devices().begin(), machine->devices().end(),
                                           [](const auto& device) { return device.kind == record::DeviceKind::kGpu; });
}

// A folder decides the model's shape.
bool decides_work(const record::ParamSpec& spec) {
  return spec.role != record::ParamRole::kRun || spec.file == record::FileUse::kCheckpoint;
}

}  // namespace

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

record::Bytes PageModel::measured_peak() const {
  if (!shows_evidence() || growing()) return 0;
  const record::Ledger& run = *runs_[static_cast<std::size_t>(shown_)].ledger;
  const auto step = record::last_whole_step(run.recording());
  return step ? run.peak(step->first, step->last).totals.allocated : 0;
}

bool PageModel::settings_drive() const {
  // A sweep in a figure of runs, as the report's experiment, is not about one step's settings.
  return shows_runs() && has_step_settings() && !(shown_ >= 0 && !shows_prediction_ && is_sweep(shown_));
}

bool PageModel::has_step_settings() const {
  return control_.demo().id == experiments::training_step().id && control_.fixed_settings().empty();
}

record::DeviceKind PageModel::device() const {
  const std::string asked = settings().has("device") ? settings().text("device") : "auto";
  if (asked == "auto") return has_gpu(control_.backend()) ? record::DeviceKind::kGpu : record::DeviceKind::kCpu;
  return asked == "cpu" ? record::DeviceKind::kCpu : record::DeviceKind::kGpu;
}

bool PageModel::runs_here() const {
  return page_->here.empty() || !has_step_settings() || device() == record::DeviceKind::kCpu ||
         has_gpu(control_.backend());
}

bool PageModel::left_the_begin() const {
  if (!settings_drive() || runs_.empty() || question_.hides()) return false;
  // Asked in every frame: of this one run alone.
  return !is_sweep(0) && !is_evidence(*runs_.front().recording, control_.demo().id, settings(), device());
}

std::map<std::string, std::string> PageModel::changes() const {
  std::map<std::string, std::string> changes;
  if (!left_the_begin()) return changes;
  const record::Params begin = record::Params::known_of(settings().schema(), runs_.front().recording->info().params);
  for (const record::ParamSpec& spec : begin.schema())
    if (decides_work(spec) && settings().as_text(spec.key) != begin.as_text(spec.key))
      changes[std::string(spec.key)] = settings().as_text(spec.key);
  return changes;
}

std::vector<std::string> PageModel::recall(const std::string& answer, const std::map<std::string, std::string>& changes,
                                           const std::string& pin, const std::string& task) {
  std::vector<std::string> refused;
  this->pin(pin);
  if (!task.empty() && !task_.recall(task))
    refused.push_back(fmt::format("{} is nothing that became of this page's task.", record::quoted(task)));
  question_.recall(answer);
  if (!answer.empty() && question_.hides())
    refused.push_back(fmt::format("{} is no answer to this question: it is open.", record::quoted(answer)));
  if (question_.state() == Question::State::kWaiting) settle_question();
  if (!settings_drive() || changes.empty()) return refused;
  record::Params wanted = settings();
  for (const auto& [key, value] : changes) {
    const record::Status set = wanted.set(key, std::string_view(value));
    if (!set && wanted.has(key))
      refused.push_back(fmt::format("{} The default, {}, is used.", set.error().message, wanted.as_text(key)));
    else if (!set)
      refused.push_back(fmt::format("{}={} changes nothing. {}", key, value, set.error().message));
  }
  adopt(wanted);
  before_.clear();
  return refused;
}

std::optional<double> PageModel::estimated_seconds() const {
  if (!runs_here()) return estimated_seconds(predict::step_settings(settings_here()));
  if (const auto measured = control_.estimate()) return measured;
  return has_step_settings() ? estimated_seconds(step()) : std::nullopt;
}

std::optional<double> PageModel::estimated_seconds(const predict::StepSettings& step) const {
  const backend::Backend* const machine = control_.backend();
  const bool on_cpu = !has_gpu(machine) || device() == record::DeviceKind::kCpu;
  if (machine == nullptr || (!on_cpu && !flops_per_second_)) return std::nullopt;
  if (flops_per_second_) return run_flops(step) / *flops_per_second_;
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  const bool sixteen_bits = step.precision != predict::Precision::kFp32;
  return run_flops(step) / (cores * kCoreRate) * (sixteen_bits ? kSixteenBitSlowdown : 1);
}

void PageModel::note_speed() {
  const bool completed = control_.outcome() && control_.outcome()->kind == record::OutcomeKind::kCompleted;
  const double seconds = control_.last_seconds().value_or(0);
  if (completed && seconds > 0 && started_flops_ > 0) flops_per_second_ = started_flops_ / seconds;
}

// Of a first run on this machine: the page's own settings, and of the others those that the reader has changed.
record::Params PageModel::settings_here() const {
  const record::Params& now = settings();
  record::Params here(now.schema());
  for (const auto& settings : {page_->settings, page_->here})
    for (const lessons::Setting& setting : settings) (void)here.set(setting.key, std::string_view(setting.value));
  if (runs_.empty()) return here;
  const record::Params begin = record::Params::known_of(now.schema(), runs_.front().recording->info().params);
  for (const record::ParamSpec& spec : now.schema()) {
    if (spec.role != record::ParamRole::kTechnique || now.as_text(spec.key) == begin.as_text(spec.key)) continue;
    record::Params with = here;
    if (with.set(spec.key, std::string_view(now.as_text(spec.key))) && experiments::conflict_in(with) == nullptr)
      here = std::move(with);
  }
  return here;
}

void PageModel::set_here() {
  const record::Params here = settings_here();
  for (const record::ParamSpec& spec : here.schema()) control_.preset(spec.key, here.as_text(spec.key));
}

// What is computed, how, and on which device; files, seeds and the number of steps stay the reader's.
void PageModel::take_settings_of(const RunOnShow& run) {
  take_ladder_of(run);
  const record::RunInfo& info = run.recording->info();
  if (!has_step_settings() || info.params.empty() || !run.recording->sweep_points().empty()) return;
  const record::Params made = record::Params::known_of(settings().schema(), info.params);
  for (const record::ParamSpec& spec : made.schema())
    if (decides_work(spec)) control_.preset(spec.key, made.as_text(spec.key));
  const bool ended_by_limit = info.cap > 0 && run.recording->outcome() && run.recording->outcome()->out_of_memory;
  control_.preset("cap", std::to_string(ended_by_limit ? info.cap : 0));
  if (device() != info.device) control_.preset("device", info.device == record::DeviceKind::kGpu ? "cuda" : "cpu");
}

// A run with these settings, the reader's own first; without one what is predicted.
void PageModel::show_settings() {
  const std::vector<int> made = evidence();
  const bool on_show = std::find(made.begin(), made.end(), shown_) != made.end();
  if (!made.empty() && wanted_[static_cast<std::size_t>(Layer::kMeasured)]) {
    if (on_show && !shows_prediction_) return;
    const bool own = runs_[static_cast<std::size_t>(made.back())].from != RunOnShow::From::kPage;
    return look_at(on_show ? shown_ : own ? made.back() : made.front());
  }
  if (shows_prediction_)
    ask_prediction();
  else
    fill_with_prediction(true);
}

const OwnModel* PageModel::own_model() const {
  if (!files_here_ || !has_step_settings() || settings().text("weights").empty()) return nullptr;
  const auto same = [this](const char* key) { return own_model_of_->text(key) == settings().text(key); };
  if (!own_model_of_ || !same("weights") || !same("model")) {
    own_model_of_ = settings();
    own_model_ = read_own_model(settings());
  }
  return own_model_ ? &*own_model_ : nullptr;
}

predict::StepSettings PageModel::step() const {
  predict::StepSettings step = predict::step_settings(settings());
  if (const OwnModel* const own = own_model(); own != nullptr) step.model = own->config;
  return step;
}

// A folder is what the model is, on this machine; another model lets it go.
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
  const bool has_folder = has_step_settings() && !settings().text("weights").empty();
  if (has_step_settings() && (key == "weights" || (key == "model" && has_folder && value != "custom")))
    return set_model(key, value);
  release();
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

void PageModel::preset_all(const record::Params& params) {
  for (const record::ParamSpec& spec : params.schema()) control_.preset(spec.key, params.as_text(spec.key));
  if (settings_drive()) show_settings();
  stale_ = true;
}

void PageModel::adopt(const record::Params& params) {
  release();
  if (params == control_.params()) return;
  remember("");
  preset_all(params);
}

// Nothing that undo would have to step over.
void PageModel::hold(const WayOut& way) {
  if (!way.turned || held_from_ || control_.running()) return;
  last_turned_ = {way.what, settings(), *way.turned};
  held_from_ = settings();
  preset_all(record::Params(*way.turned));
}

void PageModel::release() {
  if (held_from_) preset_all(*std::exchange(held_from_, std::nullopt));
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
  release();
  if (from.empty() || control_.running()) return false;
  const record::Params wanted = from.back();
  from.pop_back();
  to.push_back(settings());
  remembered_key_.clear();
  preset_all(wanted);
  return true;
}

void PageModel::turn(const WayOut& way) {
  if (!way.turned) return;
  last_turned_ = {way.what, settings(), *way.turned};
  adopt(record::Params(*way.turned));
}

void PageModel::turn_last() {
  if (settings() == last_turned_.to) {
    std::swap(last_turned_.from, last_turned_.to);
    return adopt(record::Params(last_turned_.to));
  }
  const auto& ways = ways_out();
  const auto found = std::ranges::find(ways, last_turned_.what, &WayOut::what);
  if (found != ways.end()) turn(*found);
}

}  // namespace headroom::app::page
