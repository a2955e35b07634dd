// Lays a figure out once for the screen and all files: axes, columns, labels that do not meet, list, memory levels, bars.
#pragma once

#include <optional>
#include <string_view>

#include "app/paint/scene/palette.h"
#include "app/paint/scene/scene.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"

namespace headroom::app::paint {

// Widths of text; the window may answer from its atlas, files from FontWidths (fonts.h).
class TextMeasure {
 public:
  virtual ~TextMeasure() = default;
  // px at this em, digits counted with their one width.
  virtual float width(Face face, float em, std::string_view text) const = 0;
};

struct Parts {
  bool header = true;   // title, source, provenance line: the window has its own
  bool plot = true;     // bands, axes, stack; or the bars of a figure that has bars
  bool alive = true;    // list of what is alive
  bool levels = true;   // requested to device
  bool rungs = true;    // the ladder's names: the window has switches there
  bool search = false;  // room for a field that finds a kernel
};

struct Frame {
  float width = 960, height = 540;  // px
  float scale = 1;                  // px of a px in look.md: display scale times font scale
  const Palette* palette = &kLight;
  bool compact = false;  // small screens: one line per row, narrower list
  Parts parts;
  bool whole_pixels = true;              // screens: edges on whole pixels
  const TextMeasure* measure = nullptr;  // must be given
  std::optional<record::Category> lit;   // the others step back (a term or a row is pointed at)
  std::optional<int> marked = {};        // of things with one number in several places (HitArea::mark): the others do
};

Scene layout(const lessons::FigureData& figure, const Frame& frame);

using lessons::ShownUnit;

}  // namespace headroom::app::paint
