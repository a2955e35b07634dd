// Draws a plot's labels and reserves their space.
#pragma once

#include <string>
#include <vector>

#include "app/paint/layout/sheet.h"
#include "app/paint/scene/labels.h"

namespace headroom::app::paint {

class LabelPen {
 public:
  LabelPen(Sheet& sheet, const Rect& plot) : sheet_(sheet), placer_(plot) {}

  Sheet& sheet() { return sheet_; }
  LabelPlacer& placer() { return placer_; }
  float pad_x() const { return sheet_.px(4); }

  // A label's box including its patch, with the upper left corner at (x, y).
  Rect box_at(Type type, const std::string& text, float x, float y) const {
    return {x, y, x + sheet_.width(type, text) + 2 * pad_x(), y + sheet_.height(type) + 2 * pad_y()};
  }

  void put(const Rect& box, Type type, Color color, Color patch, const std::string& text) {
    sheet_.fill(Layer::kLabels, box, patch, sheet_.px(3));
    sheet_.text(Layer::kLabels, type, color, text, box.x0 + pad_x(), box.y0 + pad_y());
  }

  // Uses the first free box, if any.
  void place(const std::vector<Rect>& candidates, Type type, Color color, const std::string& text) {
    if (const auto box = placer_.place(candidates)) put(*box, type, color, sheet_.palette().well, text);
  }

 private:
  float pad_y() const { return sheet_.px(1); }

  Sheet& sheet_;
  LabelPlacer placer_;
};

}  // namespace headroom::app::paint
