// The figures of the report on Liger Kernel as this course has them: which page and figure is the counterpart of each number is
// in assets/course_items.csv.
#pragma once

#include <vector>

#include "app/cli/chosen_figures.h"
#include "demos/record/result.h"

namespace headroom::app {

// In the report's order, each as its page draws it. Numbers with the same counterpart share one.
record::Result<std::vector<RunFigures>> report_figures();

}  // namespace headroom::app
