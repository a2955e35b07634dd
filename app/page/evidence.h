// Which runs are evidence for a page's settings.
#pragma once

#include <string_view>

#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::app::page {

// The run computed what these settings compute: where and how long it ran, and on which files, does not count.
bool made_with(const record::RunInfo& run, std::string_view demo, const record::Params& settings);

}  // namespace headroom::app::page
