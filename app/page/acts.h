// What the links of a page's words do to it.
#pragma once

#include <string>

#include "demos/record/result.h"
#include "lessons/pages/acts.h"

namespace headroom::app::page {

class PageModel;

// Why the link does nothing now; empty: it acts.
std::string why_no_act(const lessons::Act& act, const PageModel& page);
// "Sets Batch to 8 sequences", "Zooms to loss, lights logits and loss"
std::string in_words(const lessons::Act& act, const PageModel& page);
// A setting that is refused stays as it is. Pages are opened by the window.
record::Status perform(const lessons::Act& act, PageModel& page);

}  // namespace headroom::app::page
