// A page's words as the window draws them, with the figures, widgets and tables among them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "lessons/pages/live_numbers.h"
#include "lessons/pages/page.h"
#include "lessons/pages/words.h"

namespace headroom::app::page {

// The words of the page's task, in its card.
struct TaskWords {
  lessons::MarkedText words;
};
// A stretch of words, or what is between two of them.
using PagePart =
    std::variant<lessons::MarkedText, lessons::FigureBlock, lessons::WidgetBlock, lessons::TableBlock, TaskWords>;
using PageParts = std::vector<PagePart>;

struct PageText {
  PageParts body;
  std::string ask;  // empty: the page asks nothing
  lessons::MarkedText because;
  std::vector<PageParts> more;  // its steps; may be none
};
// With its numbers as they are for `numbers`.
PageText text_of(const lessons::Page& page, const lessons::NumberInput& numbers);

}  // namespace headroom::app::page
