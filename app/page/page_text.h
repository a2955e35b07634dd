// A page's words as the window draws them.
#pragma once

#include <string>

#include "lessons/pages/live_numbers.h"
#include "lessons/pages/page.h"
#include "lessons/pages/words.h"

namespace headroom::app::page {

struct PageText {
  lessons::MarkedText body;
  std::string ask, because;  // empty: the page asks nothing
  lessons::MarkedText more;  // may be empty
};
// With the numbers of the words put in.
PageText text_of(const lessons::Page& page, const lessons::NumberInput& numbers);
bool has_numbers(const lessons::Page& page);

}  // namespace headroom::app::page
