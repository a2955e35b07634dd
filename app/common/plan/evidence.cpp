// Decides which runs are evidence for settings.
#include "app/common/plan/evidence.h"

#include "demos/experiments/demo.h"
#include "demos/experiments/same_work.h"

namespace headroom::app {

bool is_evidence(const record::Recording& run, std::string_view demo, const record::Params& settings,
                 record::DeviceKind device) {
  const record::RunInfo& info = run.info();
  if (info.demo != demo || info.device != device || !run.sweep_points().empty()) return false;
  const bool ended_by_limit = info.cap > 0 && run.outcome() && run.outcome()->out_of_memory;
  if (ended_by_limit && (!settings.has("cap") || settings.integer("cap") != info.cap)) return false;
  return experiments::same_work(info.params, settings, info);
}

bool is_evidence(const record::SweepPoint& point, const record::RunInfo& sweep, const record::Params& settings,
                 record::DeviceKind device) {
  if (!experiments::trains(sweep.demo) || sweep.device != device) return false;
  const record::Params made = record::Params::known_of(settings.schema(), point.params);
  const bool ended_by_limit = point.outcome.kind == record::OutcomeKind::kOutOfMemory && made.integer("cap") > 0;
  if (ended_by_limit && settings.integer("cap") != made.integer("cap")) return false;
  return experiments::same_work(point.params, settings, sweep);
}

}  // namespace headroom::app
