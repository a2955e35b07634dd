// Which runs are evidence for settings.
#include "app/common/evidence.h"

#include <algorithm>

namespace headroom::app {

namespace {

bool same_work(const record::RunInfo& run, const record::Params& settings) {
  const record::Params made = record::Params::known_of(settings.schema(), run.params);
  return std::all_of(settings.schema().begin(), settings.schema().end(), [&](const record::ParamSpec& spec) {
    if (spec.role == record::ParamRole::kRun) return true;
    if (!settings.in_use(spec.key) || !made.in_use(spec.key)) return settings.in_use(spec.key) == made.in_use(spec.key);
    return made.as_text(spec.key) == settings.as_text(spec.key);
  });
}

}  // namespace

bool is_evidence(const record::Recording& run, std::string_view demo, const record::Params& settings,
                 record::DeviceKind device) {
  const record::RunInfo& info = run.info();
  if (info.demo != demo || info.device != device || !run.sweep_points().empty()) return false;
  const bool ended_by_limit = info.cap > 0 && run.outcome() && run.outcome()->out_of_memory;
  if (ended_by_limit && (!settings.has("cap") || settings.integer("cap") != info.cap)) return false;
  return same_work(info, settings);
}

}  // namespace headroom::app
