// A page's words, with the figures, widgets and tables between them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "lessons/pages/live_numbers.h"
#include "lessons/pages/page.h"
#include "lessons/pages/words.h"

namespace headroom::app::page {

// Drawn in a card.
struct TaskWords {
  lessons::MarkedText words;
};
// Words, or an element between them.
using PagePart =
    std::variant<lessons::MarkedText, lessons::FigureBlock, lessons::WidgetBlock, lessons::TableBlock, TaskWords>;
using PageParts = std::vector<PagePart>;

struct PageText {
  PageParts body;
  std::string ask;  // empty: no question
  lessons::MarkedText because;
  std::vector<PageParts> more;  // Read more
};
// Fills in the live numbers.
PageText text_of(const lessons::Page& page, const lessons::NumberInput& numbers);

}  // namespace headroom::app::page
