// This course's counterparts of the figures in the report on Liger Kernel, from assets/course_items.csv.
#pragma once

#include <vector>

#include "app/cli/chosen_figures.h"
#include "demos/record/result.h"

namespace headroom::app {

// In the report's order, as their pages draw them. Figures with one counterpart share a file.
record::Result<std::vector<RunFigures>> report_figures();

}  // namespace headroom::app
