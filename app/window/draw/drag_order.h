// A list that the reader reorders by dragging, or with Alt and the arrow keys.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "app/window/draw/controls.h"

namespace headroom::app::window {

class DragOrder {
 public:
  struct Move {
    std::size_t from = 0, to = 0;
  };
  struct Row {
    std::size_t place = 0;
    Rect words;        // right of the grip
    bool tip = false;  // the mouse rests on it: show a tooltip
  };

  // Rows of `height` device px. Draws ground, grip and focus ring; `draw_row` adds the rest. Returns the move, which
  // the caller applies.
  std::optional<Move> draw(const Rect& column, std::span<const std::string> ids, float height, bool enabled,
                           const std::function<void(const Row&)>& draw_row);

 private:
  std::optional<std::size_t> held_;
};

}  // namespace headroom::app::window
