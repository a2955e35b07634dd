// Icons as strokes on a 16 x 16 grid: crisp at every scale, in the color of their text.
#pragma once

#include "app/window/draw/theme.h"

namespace headroom::app::window {

enum class Icon : unsigned char {
  kNone,
  kCheck,
  kChevronRight,
  kChevronLeft,
  kChevronDown,
  kPlay,
  kPause,
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
  kSearch,
  kPin,
};

// Centered; `size` in px at scale 1.
void draw_icon(Icon icon, float center_x, float center_y, Color color, float size = 16);

}  // namespace headroom::app::window
