// The glossary: all terms, with the pages that use them.
#pragma once

#include <string>
#include <vector>

#include "app/page/finder.h"
#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

class GlossaryView {
 public:
  explicit GlossaryView(const lessons::Course& course) : entries_(page::glossary_of(course)) {}

  // Draws while open; UiState::open opens it. Returns the clicked page, or null.
  const lessons::Page* draw(UiState& ui);

 private:
  const lessons::Page* draw_entry(const page::GlossaryEntry& entry, float width);
  const lessons::Page* draw_pages(const page::GlossaryEntry& entry, Rect rect, float& bottom);

  std::vector<page::GlossaryEntry> entries_;
  std::string shown_;     // key of the requested term
  std::string unfolded_;  // key of the term with all pages shown
  int to_scroll_ = 0;     // frames until the term is in sight
};

}  // namespace headroom::app::window
