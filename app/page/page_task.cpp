// What the page's task is checked on: what is on show.
#include "app/page/page_model.h"
#include "demos/experiments/schemas.h"

namespace headroom::app::page {

// The last rung of a ladder, else the settings; those of a calculator as a training step's.
Task::Around PageModel::around_task() const {
  Task::Around around{.settings = {},
                      .device = device(),
                      .peak = {},
                      .runs = runs_,
                      .predictions = page_->demo.empty() ? nullptr : planner(),
                      .why_none = page_->demo.empty() ? "This page calculates." : why_no_prediction(),
                      .numbers = {}};
  if (page_->demo.empty()) around.device = record::DeviceKind::kGpu;
  const auto rung = climbs() ? ladder_->last() : std::nullopt;
  around.settings = rung ? rung->settings : page_->demo.empty() ? experiments::step_params(settings()) : settings();
  if (rung) around.peak = Task::Peak{rung->peak, rung->by};
  if (const RunOnShow* const shown = on_show(); shown != nullptr && !climbs()) around.numbers.run = shown->ledger.get();
  if (const RunOnShow* const a = run_a()) around.numbers.baseline = a->ledger.get();
  return around;
}

// While a switch is held, or a border tried, what is on show is not what the reader has set.
bool PageModel::follow_task(bool news) {
  if (news) task_.hear_news();
  if (!task_.open() || question_.hides() || holding() || trying() || control_.running()) return false;
  const bool still_to_start = predictions_ == nullptr && why_no_engine_.empty() && !page_->demo.empty();
  if (still_to_start || (asked_ && planner() != nullptr)) return false;
  const RunOnShow* const shown = on_show();
  if (!task_.wants(settings(), {shown == nullptr ? nullptr : shown->recording.get(), runs_.size(), planner()}))
    return false;
  if (climbs() && !ladder_->last()) return false;  // on its way
  Task::Around around = around_task();
  around.numbers.settings = &around.settings;
  return task_.follow(around);
}

}  // namespace headroom::app::page
