#include "demos/experiments/same_work.h"

#include <algorithm>

#include "demos/experiments/attention_taken.h"

namespace headroom::experiments {

bool same_work(const std::map<std::string, std::string>& params, const record::Params& asked,
               const record::RunInfo& ran_on) {
  if (!record::Params::unknown_in(asked.schema(), params).empty()) return false;
  const auto there = [&ran_on](const record::Params& some) {
    return with_attention_taken(some, ran_on.device, capability_in(ran_on.provenance));
  };
  const record::Params made = there(record::Params::known_of(asked.schema(), params)), settings = there(asked);
  return std::all_of(settings.schema().begin(), settings.schema().end(), [&](const record::ParamSpec& spec) {
    const bool shape = spec.file == record::FileUse::kCheckpoint && settings.text("model") == "custom";
    if (spec.role == record::ParamRole::kRun && !shape) return true;
    if (!settings.in_use(spec.key) || !made.in_use(spec.key)) return settings.in_use(spec.key) == made.in_use(spec.key);
    return made.as_text(spec.key) == settings.as_text(spec.key);
  });
}

}  // namespace headroom::experiments
