// The parts around every page: rail, top bar, status bar and contents.
#pragma once

#include <span>

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"
#include "demos/protocol/messages.h"
#include "lessons/pages/course.h"

namespace headroom::app::window {

struct PageLayout {
  Rect rail, top, status, page;
};
PageLayout page_layout(const Rect& window, Density density);

// Returns the clicked page, or null.
const lessons::Page* draw_rail(const PageFrame& frame, const Rect& rect, const lessons::Course& course,
                               std::span<const lessons::Page* const> read);
void draw_top_bar(PageFrame& frame, const Rect& rect);
void draw_status_bar(const PageFrame& frame, const Rect& rect, bool no_engine,
                     std::span<const protocol::DeviceFacts> devices);
// Lists all pages, to jump to by a click or a typed number. Draws while open; UiState::open opens it.
const lessons::Page* draw_contents(PageFrame& frame, const lessons::Course& course);
// On stage: a blank screen, or shade around a circle at the mouse.
void draw_over_stage(const UiState& ui, const Rect& window);

}  // namespace headroom::app::window
