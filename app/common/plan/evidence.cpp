// Decides which runs are evidence for settings.
#include "app/common/plan/evidence.h"

#include <algorithm>
#include <map>
#include <string>

#include "demos/experiments/attention_taken.h"
#include "demos/experiments/demo.h"

namespace headroom::app {

namespace {

// `ran_on`: the run or sweep that `params` belong to.
bool same_work(const std::map<std::string, std::string>& params, const record::Params& asked,
               const record::RunInfo& ran_on) {
  if (!record::Params::unknown_in(asked.schema(), params).empty()) return false;
  const auto there = [&ran_on](const record::Params& some) {
    return experiments::with_attention_taken(some, ran_on.device, experiments::capability_in(ran_on.provenance));
  };
  const record::Params made = there(record::Params::known_of(asked.schema(), params)), settings = there(asked);
  return std::all_of(settings.schema().begin(), settings.schema().end(), [&](const record::ParamSpec& spec) {
    const bool shape = spec.file == record::FileUse::kCheckpoint && settings.text("model") == "custom";
    if (spec.role == record::ParamRole::kRun && !shape) return true;
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
  return same_work(info.params, settings, info);
}

bool is_evidence(const record::SweepPoint& point, const record::RunInfo& sweep, const record::Params& settings,
                 record::DeviceKind device) {
  if (!experiments::trains(sweep.demo) || sweep.device != device) return false;
  const record::Params made = record::Params::known_of(settings.schema(), point.params);
  const bool ended_by_limit = point.outcome.kind == record::OutcomeKind::kOutOfMemory && made.integer("cap") > 0;
  if (ended_by_limit && settings.integer("cap") != made.integer("cap")) return false;
  return same_work(point.params, settings, sweep);
}

}  // namespace headroom::app
