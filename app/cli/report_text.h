// The report's experiment in words and tables: what was measured here beside what was published, and why they differ.
#pragma once

#include <string>

#include "demos/record/recording.h"

namespace headroom::app {

// Markdown. `quick`: the tiny model, beside which nothing was published.
std::string report_text(const record::Recording& sweep, bool quick);

}  // namespace headroom::app
