// Slider marks from a page's runs, and the trial of the largest batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/page/runs.h"
#include "demos/record/schema.h"

namespace headroom::app::page {

class PageModel;

struct Trial {
  record::Params before;
  std::vector<std::int64_t> left;  // batches to run, from the back
  bool began = false;
  std::int64_t ran = 0;  // largest completed batch; 0: none
};

// Slider marks: runs that differ from the settings only in `key`.
const std::vector<SettingMark>& marks_of(PageModel& page, std::string_view key);
// Why PageModel::try_border() cannot run; empty: it can.
std::string why_no_trial(const PageModel& page);
// For both runs of a trial; empty: unknown.
std::optional<double> estimated_trial_seconds(const PageModel& page);

}  // namespace headroom::app::page
