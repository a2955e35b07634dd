// Where a recording that was given at the start belongs.
#pragma once

#include "demos/record/recording.h"
#include "lessons/pages/course.h"

namespace headroom::app::page {

// The page runs what the recording is of; a sweep needs a figure of sweeps or ladders, too.
bool shows_run(const lessons::Page& page, const record::Recording& recording);
// The first page of the course that does; null: none.
const lessons::Page* page_of_run(const lessons::Course& course, const record::Recording& recording);

}  // namespace headroom::app::page
