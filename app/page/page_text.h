// A page's words as the window draws them.
#pragma once

#include <string>
#include <vector>

#include "lessons/pages/live_numbers.h"
#include "lessons/pages/page.h"
#include "lessons/pages/words.h"

namespace headroom::app::page {

struct PageText {
  lessons::MarkedText body;
  std::string ask, because;               // empty: the page asks nothing
  std::vector<lessons::MarkedText> more;  // its steps; may be none
};
// With its numbers as they are for `numbers`.
PageText text_of(const lessons::Page& page, const lessons::NumberInput& numbers);

}  // namespace headroom::app::page
