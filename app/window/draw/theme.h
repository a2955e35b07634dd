// The current look: the theme's colors, the scale, and ImGui's style from both. Colors come from app/paint, so that
// screen and export agree.
#pragma once

#include <string_view>

#include "app/paint/scene/palette.h"
#include "imgui.h"

namespace headroom::app::window {

enum class ThemeId : unsigned char { kLight, kDark, kHighContrast };
inline constexpr int kNumThemes = 3;
std::string_view key_of(ThemeId id);       // "light", "dark", "high_contrast"
ThemeId theme_from(std::string_view key);  // unknown: light
inline ThemeId next(ThemeId id) { return static_cast<ThemeId>((static_cast<int>(id) + 1) % kNumThemes); }
const paint::Palette& palette_of(ThemeId id);

using paint::Color, paint::faded;

struct Look {
  ThemeId theme = ThemeId::kLight;
  float scale = 1;  // the reader's font scale times the display's
};

const Look& look();
// The interface has ink and grays only; hues are for memory, and the danger color for what does not fit.
inline const paint::Palette& theme() { return palette_of(look().theme); }
inline bool high_contrast() { return look().theme == ThemeId::kHighContrast; }

inline ImU32 as_u32(Color color) { return IM_COL32(color.r, color.g, color.b, color.a); }
inline ImVec4 as_vec4(Color color) { return ImGui::ColorConvertU32ToFloat4(as_u32(color)); }

// Also resets ImGui's style, because scaling is cumulative.
void apply_look(ThemeId id, float scale);

}  // namespace headroom::app::window
