// Finds acts on the open page by typed words: to set a setting, choose a card, or turn a technique on or off.
#pragma once

#include <string_view>
#include <vector>

#include "app/page/words/finder.h"

namespace headroom::app::page {

class PageModel;

// "batch 8", "8b", "4090", "lora", "fused loss off". Those that match best; empty if the words name none. The finder
// lists them first.
std::vector<Findable> acts_for(std::string_view typed, const PageModel& page);

}  // namespace headroom::app::page
