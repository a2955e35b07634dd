// Tries the largest batch.
#include <utility>

#include "app/page/page_facts.h"

namespace headroom::app::page {

namespace {

constexpr std::string_view kBatch = "batch", kLimit = "cap";

}  // namespace

const std::vector<SettingMark>& marks_of(PageModel& page, std::string_view key) {
  static const std::vector<SettingMark> none;
  if (!settings_drive(page)) return none;
  return page.runs().marks(key, page.settings(),
                           {.demo = page.control().demo().id,
                            .device = device_of(page),
                            .limit = limit_of_card(page),
                            .running = page.control().running()});
}

std::string why_no_trial(const PageModel& page) {
  if (!page.control().fixed_settings().empty()) return page.control().fixed_settings();
  if (std::string why = why_no_engine(page); !why.empty()) return why;
  const StepPlan* const step = plan_of(page);
  if (step == nullptr || step->cards.empty() || !step->cards.front().largest_batch ||
      !(step->params == page.settings()))
    return "The search for the largest batch is still running.";
  if (!page.control().can_run()) return "Another run is active, or there is no engine to run on.";
  if (device_of(page) == record::DeviceKind::kCpu)
    return limit_set(page) > 0 ? "" : "Set a memory limit first: without one a run would fill this machine's memory.";
  const protocol::DeviceFacts* const gpu = device_here(page.control().backend(), record::DeviceKind::kGpu);
  if (gpu == nullptr) return "There is no GPU here to try it on. The marks on the sliders are stored runs.";
  if (gpu->memory >= limit_of_card(page)) return {};
  return "The GPU here has " + record::format_bytes(gpu->memory, 0) +
         ", less than this card. The marks on the sliders are stored runs.";
}

std::optional<double> estimated_trial_seconds(const PageModel& page) {
  const StepPlan* const step = plan_of(page);
  if (step == nullptr || step->cards.empty() || !step->cards.front().largest_batch) return std::nullopt;
  predict::StepSettings both = step_of(page);
  both.batch = 2 * *step->cards.front().largest_batch + 1;
  return estimated_seconds(page, both);
}

void PageModel::try_border(double now) {
  if (!why_no_trial(*this).empty()) return;
  const std::int64_t largest = *plan_of(*this)->cards.front().largest_batch;
  trial_ = Trial{.before = settings(), .left = {}, .began = false, .ran = 0};
  record::Params next = settings();
  if (next.set(kBatch, record::ParamValue(largest + 1))) trial_->left.push_back(largest + 1);
  if (largest > 0) trial_->left.push_back(largest);
  run_trial(now);
}

void PageModel::run_trial(double now) {
  const bool began = std::exchange(trial_->began, true);
  const bool completed = control_.outcome() && control_.outcome()->kind == record::OutcomeKind::kCompleted;
  if (began && completed) trial_->ran = settings().integer(kBatch);
  if ((began && !completed) || trial_->left.empty()) return end_trial();
  const std::int64_t batch = trial_->left.back();
  const record::Bytes limit = limit_of_card(*this);
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
  ++changes_;
}

}  // namespace headroom::app::page
