// Icons as strokes on a 16 x 16 grid: crisp at every scale, in the colour of the text beside them.
#pragma once

#include "imgui.h"

namespace headroom::app::window {

enum class Icon : unsigned char {
  kNone,
  kCheck,
  kChevronRight,
  kChevronLeft,
  kChevronDown,
  kPlay,
  kStop,
  kLock,
  kSun,
  kMoon,
  kContrast,
  kChip,
  kFormula,
  kRecorded,
  kLive,
  kPredicted,
  kInfo,
  kWarning,
  kExport,
  kKeys,
  kLayers,
  kBook,
  kPin,
};

// Centred; `size` in px at scale 1.
void draw_icon(Icon icon, float centre_x, float centre_y, ImU32 colour, float size = 16);

}  // namespace headroom::app::window
