// The page's second question, below the last step of Read more.
#pragma once

#include <string>

#include "app/page/second_question.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

struct SecondCard {
  page::SecondQuestion question;
  std::string text = {}, error = {};  // in the field; why it is no number
};

// A card at the cursor; nothing if the page has none.
void draw_second_question(PageFrame& frame);

}  // namespace headroom::app::window
