// The report's experiment as text: our measurements next to the published ones, and why they differ.
#pragma once

#include <string>

#include "demos/record/recording.h"

namespace headroom::app {

// Markdown. `quick`: the tiny model, for which nothing was published.
std::string report_text(const record::Recording& sweep, bool quick);

}  // namespace headroom::app
