// The reader's runs: kept over a restart, forgotten, and what they show of where memory ends.
#include <algorithm>
#include <utility>

#include "app/common/evidence.h"
#include "app/page/page_model.h"

namespace headroom::app::page {

namespace {

constexpr std::string_view kBatch = "batch", kLimit = "cap";
constexpr std::ptrdiff_t kMostOwn = 50;  // in memory, on a page

bool is_own(const RunOnShow& run) {
  return run.from == RunOnShow::From::kEarlierStart || run.from == RunOnShow::From::kReader;
}

bool ended_in(const record::Recording& run, record::OutcomeKind kind) {
  return run.outcome() && run.outcome()->kind == kind;
}

}  // namespace

void PageModel::add_kept(std::shared_ptr<const record::Recording> recording, std::string_view name) {
  RunOnShow run = make_run(std::move(recording), RunOnShow::From::kEarlierStart);
  run.name = name;
  add_run(std::move(run));
  if (name == wanted_pin_) pin(name);
  if (settings_drive() && !question_.hides()) show_settings();
  stale_ = true;
}

// A run that was cancelled or went wrong shows nothing that is worth a file.
const RunOnShow* PageModel::take_unkept() {
  if (own_ < 0 || control_.running()) return nullptr;
  RunOnShow& own = runs_[static_cast<std::size_t>(own_)];
  const bool whole = ended_in(*own.recording, record::OutcomeKind::kCompleted) ||
                     ended_in(*own.recording, record::OutcomeKind::kOutOfMemory);
  return whole && !std::exchange(own.offered, true) ? &own : nullptr;
}

void PageModel::note_kept(const RunOnShow& run, std::string name) {
  const auto kept = std::ranges::find(runs_, run.recording, &RunOnShow::recording);
  if (kept != runs_.end()) kept->name = std::move(name);
}

void PageModel::erase_run(int index) {
  runs_.erase(runs_.begin() + index);
  for (int* each : {&own_, &sweep_, &shown_}) {
    if (*each == index) *each = -1;
    if (*each > index) --*each;
  }
}

void PageModel::forget(int index) {
  const RunOnShow& run = runs_[static_cast<std::size_t>(index)];
  if (!is_own(run) || (index == own_ && control_.running())) return;
  if (!run.name.empty()) forgotten_.push_back(run.name);
  const bool shown = index == shown_;
  erase_run(index);
  if (!shown) return;
  if (runs_.empty()) return show_settings();
  look_at(0);
  if (settings_drive()) show_settings();
}

// Its file stays.
void PageModel::drop_oldest() {
  if (std::ranges::count_if(runs_, is_own) <= kMostOwn) return;
  const auto oldest = std::ranges::find_if(runs_, is_own);
  erase_run(static_cast<int>(oldest - runs_.begin()));
}

record::Bytes PageModel::limit_of_card() const {
  const auto on = card();
  return on ? on->memory - on->process.bytes : 0;
}

const std::vector<RunMark>& PageModel::marks(std::string_view key) {
  static const std::vector<RunMark> none;
  if (!settings_drive()) return none;
  Marks& known = marks_[std::string(key)];
  const record::Bytes limit = limit_of_card();
  const bool running = control_.running();
  if (known.settings == settings() && known.runs == runs_.size() && known.running == running && known.limit == limit)
    return known.all;
  known = {.settings = settings(), .runs = runs_.size(), .running = running, .limit = limit, .all = {}};
  for (int i = 0; i < static_cast<int>(runs_.size()); ++i) {
    const record::Recording& run = *runs_[static_cast<std::size_t>(i)].recording;
    const auto value = run.info().params.find(std::string(key));
    if ((i == own_ && running) || value == run.info().params.end()) continue;
    const bool under_limit = run.info().cap > 0 && run.info().cap == limit;
    const bool ended = ended_in(run, record::OutcomeKind::kOutOfMemory);
    record::Params there = settings();
    if (!there.set(key, std::string_view(value->second))) continue;
    if (under_limit) (void)there.set(kLimit, record::ParamValue(limit));
    if (!is_evidence(run, control_.demo().id, there, device())) continue;
    using Kind = RunMark::Kind;
    const Kind kind = ended ? Kind::kOutOfMemory : under_limit ? Kind::kFits : Kind::kRan;
    known.all.push_back({static_cast<double>(there.integer(key)), kind});
  }
  return known.all;
}

std::string PageModel::why_no_trial() const {
  if (!control_.fixed_settings().empty()) return control_.fixed_settings();
  if (std::string why = why_no_engine(); !why.empty()) return why;
  const StepPlan* const step = plan();
  if (step == nullptr || step->cards.empty() || !step->cards.front().largest_batch || !(step->params == settings()))
    return "The largest batch is still being worked out.";
  if (!control_.can_run()) return "Something runs already, or there is nothing to run on.";
  if (device() == record::DeviceKind::kCpu)
    return settings().integer(kLimit) > 0 ? ""
                                          : "Set a limit first: without one a run would fill this machine's memory.";
  for (const protocol::DeviceFacts& here : control_.backend()->devices())
    if (here.kind == record::DeviceKind::kGpu) {
      if (here.memory >= limit_of_card()) return {};
      return "The GPU here has " + record::format_bytes(here.memory, 0) +
             ", less than this card. The marks on the sliders are stored runs.";
    }
  return "There is no GPU here to try it on. The marks on the sliders are stored runs.";
}

std::optional<double> PageModel::estimated_trial_seconds() const {
  const StepPlan* const step = plan();
  if (step == nullptr || step->cards.empty() || !step->cards.front().largest_batch) return std::nullopt;
  predict::StepSettings both = this->step();
  both.batch = 2 * *step->cards.front().largest_batch + 1;
  return estimated_seconds(both);
}

void PageModel::try_border(double now) {
  if (!why_no_trial().empty()) return;
  const std::int64_t largest = *plan()->cards.front().largest_batch;
  trial_ = Trial{.before = settings(), .left = {}, .began = false, .ran = 0};
  record::Params next = settings();
  if (next.set(kBatch, record::ParamValue(largest + 1))) trial_->left.push_back(largest + 1);
  if (largest > 0) trial_->left.push_back(largest);  // from the back
  run_trial(now);
}

// The next run, once the last one has ended.
void PageModel::run_trial(double now) {
  const bool began = std::exchange(trial_->began, true);
  const bool completed = control_.outcome() && control_.outcome()->kind == record::OutcomeKind::kCompleted;
  if (began && completed) trial_->ran = settings().integer(kBatch);
  if ((began && !completed) || trial_->left.empty()) return end_trial();
  const std::int64_t batch = trial_->left.back();
  const record::Bytes limit = limit_of_card();
  trial_->left.pop_back();
  (void)control_.set(kLimit, std::to_string(limit));
  (void)control_.set(kBatch, std::to_string(batch));
  run(now);
  if (!control_.running()) end_trial();
}

void PageModel::end_trial() {
  const Trial trial = *std::exchange(trial_, std::nullopt);
  for (const record::ParamSpec& spec : trial.before.schema()) control_.preset(spec.key, trial.before.as_text(spec.key));
  if (trial.ran > 0) (void)set_param(kBatch, std::to_string(trial.ran));
  show_settings();
  stale_ = true;
}

std::optional<PageModel::Needs> PageModel::needs() const {
  const StepPlan* const step = plan();
  if (step == nullptr || !runs_here() || control_.backend() == nullptr || !(step->params == settings()))
    return std::nullopt;
  for (const protocol::DeviceFacts& here : control_.backend()->devices()) {
    if (here.kind != device()) continue;
    const record::Bytes limit = settings().integer(kLimit);
    return Needs{std::max(step->allocated, step->reserved), limit > 0 ? limit : here.free_memory};
  }
  return std::nullopt;
}

}  // namespace headroom::app::page
