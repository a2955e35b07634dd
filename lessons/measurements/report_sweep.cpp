#include "lessons/measurements/report_sweep.h"

#include <map>
#include <set>

#include "demos/predict/forms/report_form.h"
#include "lessons/wording.h"

namespace headroom::lessons {

ReportSweep report_over_batch() {
  return {.over = "batch", .fixed = "seq", .experiment = "batch", .published_at = 1024};
}
ReportSweep report_over_sequence() {
  return {.over = "seq", .fixed = "batch", .experiment = "sequence", .published_at = 4};
}

void find_points(ReportSweep& sweep, const record::Recording& recording) {
  std::map<std::int64_t, std::set<std::int64_t>> values;
  for (const SweepPoint& point : recording.sweep_points())
    if (predict::report_loss(point.series)) values[setting(point, sweep.fixed)].insert(setting(point, sweep.over));
  std::size_t most = 0;
  for (const auto& [at, over] : values) {
    if (over.size() <= most) continue;
    most = over.size();
    sweep.at = at;
  }
  const std::set<std::int64_t>& found = values[sweep.at];
  sweep.places.assign(found.begin(), found.end());
  sweep.comparable = sweep.at == sweep.published_at && value_of(recording.info().params, "model") == "llama-3.2-1b";
}

}  // namespace headroom::lessons
