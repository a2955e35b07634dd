// Lays out a figure once for the screen and all files.
#pragma once

#include <optional>
#include <string_view>

#include "app/paint/scene/palette.h"
#include "app/paint/scene/scene.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"

namespace headroom::app::paint {

// Measures text: with the window's font atlas, or for files with FontWidths (fonts.h).
class TextMeasure {
 public:
  virtual ~TextMeasure() = default;
  // Width in px at this em; all digits are equally wide.
  virtual float width(Face face, float em, std::string_view text) const = 0;
};

struct Parts {
  bool header = true;   // title, source and provenance; the window has its own
  bool plot = true;     // bands, axes, stack; or bars
  bool alive = true;    // list of live tensors
  bool levels = true;   // memory levels, from requested to device bytes
  bool rungs = true;    // names of rungs; the window has switches there
  bool search = false;  // room for a search field
};

struct Frame {
  float width = 960, height = 540;  // px
  float scale = 1;                  // px per design px: display scale times font scale
  const Palette* palette = &kLight;
  bool compact = false;  // small screens: one line per row, narrower list
  Parts parts;
  bool whole_pixels = true;              // for screens
  const TextMeasure* measure = nullptr;  // required
  std::optional<record::Category> lit;   // highlighted kind; all others are muted
  std::optional<int> marked = {};        // highlighted HitArea::mark; all others are muted
  // The figure after the answer to an open question: its room is kept, so that nothing moves at the reveal.
  const lessons::FigureData* answered = nullptr;
};

Scene layout(const lessons::FigureData& figure, const Frame& frame);

using lessons::ShownUnit;

}  // namespace headroom::app::paint
