// Finds the page for a recording given at the start.
#pragma once

#include "demos/record/recording.h"
#include "lessons/pages/course.h"

namespace headroom::app::page {

// True if the page runs the recording's demo and has a figure for such a run, sweep or ladder.
bool shows_run(const lessons::Page& page, const record::Recording& recording);
// The course's first such page; null: none.
const lessons::Page* page_of_run(const lessons::Course& course, const record::Recording& recording);

}  // namespace headroom::app::page
