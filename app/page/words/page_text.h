// A page's words, with the figures, widgets and tables between them.
#pragma once

#include <string>
#include <vector>

#include "lessons/pages/numbers/live_numbers.h"
#include "lessons/pages/page.h"
#include "lessons/pages/words.h"

namespace headroom::app::page {

// One block, or several blocks whose words form one text.
struct PagePart {
  const lessons::Block* block = nullptr;  // the part's first block, owned by the page
  lessons::MarkedText words;              // with live numbers
  std::string about;                      // "Llama 3.2 1B, bf16" if the block's scope has other settings; else empty
};
using PageParts = std::vector<PagePart>;

struct PageText {
  PageParts body;
  std::string ask;
  lessons::MarkedText because;
  std::vector<PageParts> more;  // Read more
};
// Fills in the live numbers. `page` must outlive the text.
PageText text_of(const lessons::Page& page, const lessons::NumberInput& numbers);

}  // namespace headroom::app::page
