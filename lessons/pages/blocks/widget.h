// A widget among the words.
#pragma once

#include <string>
#include <string_view>

#include "lessons/pages/page.h"

namespace headroom::lessons {

struct WidgetBlock {
  std::string widget;
};

// Why the page cannot have this widget; empty if it can.
std::string why_no_widget(std::string_view id, const Page& page);
std::string words_of_widget(std::string_view id);

}  // namespace headroom::lessons
