// Which runs are evidence for a page's settings.
#include "app/page/evidence.h"

#include <algorithm>

namespace headroom::app::page {

bool made_with(const record::RunInfo& run, std::string_view demo, const record::Params& settings) {
  if (run.demo != demo) return false;
  const record::Params made = record::Params::known_of(settings.schema(), run.params);
  return std::all_of(settings.schema().begin(), settings.schema().end(), [&](const record::ParamSpec& spec) {
    if (spec.role == record::ParamRole::kRun) return true;
    if (!settings.in_use(spec.key) || !made.in_use(spec.key)) return settings.in_use(spec.key) == made.in_use(spec.key);
    return made.as_text(spec.key) == settings.as_text(spec.key);
  });
}

}  // namespace headroom::app::page
