// The current look: the theme's colors, the scale, and ImGui's style from both. Colors come from app/paint, so that
// screen and export agree.
#pragma once

#include <array>
#include <string_view>

#include "app/paint/scene/palette.h"
#include "demos/record/units.h"
#include "imgui.h"

namespace headroom::app::window {

enum class ThemeId : unsigned char { kLight, kDark, kHighContrast };
inline constexpr int kNumThemes = 3;
std::string_view key_of(ThemeId id);       // "light", "dark", "high_contrast"
ThemeId theme_from(std::string_view key);  // unknown: light
inline ThemeId next(ThemeId id) { return static_cast<ThemeId>((static_cast<int>(id) + 1) % kNumThemes); }
const paint::Palette& palette_of(ThemeId id);

// Color tokens for ImGui. The interface has ink and grays only; hues are for memory.
struct Theme {
  ThemeId id = ThemeId::kLight;
  bool dark = false;
  bool high_contrast = false;
  ImU32 rail, canvas, card, raised;  // surfaces, from back to front
  ImU32 hairline, control;           // lines; control has a contrast of 3:1
  ImU32 hover, active, selected, track;
  ImU32 text, text2, text3, disabled;
  ImU32 ink, ink_hover, ink_active, on_ink;
  ImU32 danger, danger_soft, focus, shadow, scrim;  // danger: only for what does not fit
  std::array<ImU32, record::kNumCategories> kind;
};

struct Look {
  Theme theme;
  float scale = 1;  // the reader's font scale times the display's
};

const Look& look();
inline const Theme& theme() { return look().theme; }

inline ImU32 as_u32(paint::Color color) { return IM_COL32(color.r, color.g, color.b, color.a); }
ImU32 with_alpha(ImU32 color, float alpha);
ImVec4 as_vec4(ImU32 color);

// Also resets ImGui's style, because scaling is cumulative.
void apply_look(ThemeId id, float scale);

}  // namespace headroom::app::window
