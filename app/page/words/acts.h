// Performs the links in a page's words.
#pragma once

#include <string>

#include "demos/record/result.h"
#include "lessons/pages/acts.h"

namespace headroom::app::page {

class PageModel;

// Why the link cannot act now.
std::string why_no_act(const lessons::Act& act, const PageModel& page);
// "Sets Batch to 8 sequences", "Zooms to loss"
std::string in_words(const lessons::Act& act, const PageModel& page);
// Refused settings keep their values. Only the window opens pages.
record::Status perform(const lessons::Act& act, PageModel& page);

}  // namespace headroom::app::page
