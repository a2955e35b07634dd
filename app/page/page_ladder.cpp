// The ladder of a page: what it follows from, and the ladder that a run is.
#include <utility>

#include "app/page/page_model.h"

namespace headroom::app::page {

// The run that was chosen counts first, then what was made here.
bool PageModel::follow_ladder() {
  if (!climbs()) return false;
  Ladder::Around around{.settings = settings(),
                        .device = device(),
                        .runs = {},
                        .climbing = sweep_ >= 0 && !runs_[static_cast<std::size_t>(sweep_)].recording->outcome()
                                        ? runs_[static_cast<std::size_t>(sweep_)].recording
                                        : nullptr,
                        .hidden = question_.hides(),
                        .predictions = predictions_,
                        .why_none = planner() == nullptr ? why_no_prediction() : std::string()};
  for (const int first : {shown_, sweep_})
    if (first >= 0) around.runs.push_back(runs_[static_cast<std::size_t>(first)].recording);
  for (const RunOnShow& run : runs_) around.runs.push_back(run.recording);
  if (!ladder_->follow(around)) return false;
  follow(rungs_, ladder_->rungs());
  stale_ = true;
  return true;
}

// A stored ladder begins with its settings and its order.
void PageModel::take_ladder_of(const RunOnShow& run) {
  const record::Recording& made = *run.recording;
  if (!climbs() || made.sweep_points().empty() || made.sweep_points().front().series != "ladder") return;
  const record::Params first = record::Params::known_of(settings().schema(), made.sweep_points().front().params);
  for (const record::ParamSpec& spec : first.schema())
    if (spec.role == record::ParamRole::kShape) control_.preset(spec.key, first.as_text(spec.key));
  control_.preset("cap", std::to_string(made.info().cap));
  control_.preset("device", made.info().device == record::DeviceKind::kGpu ? "cuda" : "cpu");
  ladder_->take_order(made);
}

}  // namespace headroom::app::page
