// The program's colors for three themes and print. Hues are reserved for kinds of memory; the interface has one accent,
// ink.
#pragma once

#include <array>
#include <cstdint>

#include "demos/record/units.h"

namespace headroom::app::paint {

struct Color {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;

  constexpr bool operator==(const Color&) const = default;
};

constexpr Color rgb(std::uint32_t hex, std::uint8_t alpha = 255) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8), static_cast<std::uint8_t>(hex),
          alpha};
}

// `opacity` (0 to 1) scales the alpha.
constexpr Color faded(Color color, float opacity) {
  color.a = static_cast<std::uint8_t>(static_cast<float>(color.a) * opacity + 0.5f);
  return color;
}

// Mixes `share` of `b` into `a`, per channel in sRGB; opaque.
constexpr Color mixed(Color a, Color b, float share) {
  const auto channel = [share](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(static_cast<float>(x) + (static_cast<float>(y) - static_cast<float>(x)) * share +
                                     0.5f);
  };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b), 255};
}

// `on_fill` and `on_quiet` are text colors.
struct KindColors {
  Color fill, on_fill, edge, quiet, on_quiet;
  bool hatched = false;   // hatched in the edge color: the fill's contrast with the plot is below 3:1
  bool outlined = false;  // 1 px edge
};

struct StateColors {
  Color hover, active, selected, track;
  Color ink_hover, ink_active;  // backgrounds of controls in ink
};

// Opacities: ground and hatch of "does not fit", and the canvas over the hidden part.
struct Opacities {
  float danger_ground = 0.05f, danger_hatch = 0.26f, cover = 0.80f;
};

struct Shades {
  Color shadow, scrim;
};

// Colors of other libraries' kernels, with a contrast of 3:1 on the well; the program's own kernels are ink.
struct WorkColors {
  Color product, other;
};

struct Palette {
  bool dark = false;
  bool quiet_kinds = true;  // false in high contrast, where kinds are never muted
  Color rail, canvas, card, well, raised;
  Color hairline, control, grid;
  StateColors state;
  Color text, text2, text3, disabled;
  Color ink, on_ink;
  Color danger, danger_soft, focus;
  Shades shade;
  std::array<Color, 4> phase;  // forward, loss, backward, optimizer
  WorkColors work;
  std::array<KindColors, record::kNumCategories> kinds;
  Opacities opacity;

  constexpr const KindColors& of(record::Category category) const { return kinds[static_cast<std::size_t>(category)]; }
};

// Hatch lines at 45° where x + y is a multiple of `step`, so that neighbors join.
struct HatchRule {
  float step = 6;
  float width = 1;
  float opacity = 1;  // of the hatch's color
};
inline constexpr HatchRule kKindHatch{6, 1, 0.55f};        // in the kind's edge color
inline constexpr HatchRule kPassingHatch{8, 1.2f, 0.55f};  // in the color of text on the kind
inline constexpr HatchRule kDangerHatch{9, 1.1f, 1};       // in the danger color, at Opacities::danger_hatch
inline constexpr HatchRule kOverCapHatch{6, 1.2f, 0.55f};  // on data above the card's limit
inline constexpr Color kOverCap = rgb(0x111110);

namespace detail {

constexpr std::array<KindColors, record::kNumCategories> kinds(const std::array<std::uint32_t, 7>& edges, Color well,
                                                               Color text, float quiet_share, int hatched_from,
                                                               int outlined_from) {
  constexpr std::array<std::uint32_t, 7> kFills{0x0072B2, 0x009E73, 0xD55E00, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x999999};
  std::array<KindColors, record::kNumCategories> kinds{};
  for (int i = 0; i < record::kNumCategories; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Color fill = rgb(kFills[k]);
    kinds[k] = {fill,
                i == 0 ? rgb(0xFFFFFF) : rgb(0x111110),
                rgb(edges[k]),
                mixed(fill, well, quiet_share),
                text,
                i >= hatched_from,
                i >= outlined_from};
  }
  return kinds;
}

}  // namespace detail

inline constexpr Palette kLight{
    .dark = false,
    .rail = rgb(0xEFEFEC),
    .canvas = rgb(0xF7F7F5),
    .card = rgb(0xFFFFFF),
    .well = rgb(0xFFFFFF),
    .raised = rgb(0xFFFFFF),
    .hairline = rgb(0xE1E1DD),
    .control = rgb(0x7E7E78),
    .grid = rgb(0xECECE9),
    .state = {.hover = rgb(0xEBEBE7),
              .active = rgb(0xDFDFDA),
              .selected = rgb(0xE4E4DF),
              .track = rgb(0xDCDCD7),
              .ink_hover = rgb(0x3A3A36),
              .ink_active = rgb(0x000000)},
    .text = rgb(0x1A1A18),
    .text2 = rgb(0x4C4C47),
    .text3 = rgb(0x63635D),
    .disabled = rgb(0x696963),
    .ink = rgb(0x1F1F1C),
    .on_ink = rgb(0xFFFFFF),
    .danger = rgb(0xB3123B),
    .danger_soft = rgb(0xFBEAEE),
    .focus = rgb(0x1F1F1C),
    .shade = {rgb(0x000000, 20), rgb(0x1A1A18, 90)},
    .phase = {rgb(0xECECE8), rgb(0xD8D8D2), rgb(0xE4E4DF), rgb(0xCFCFC8)},
    .work = {rgb(0x5C5C56), rgb(0x90908A)},
    .kinds = detail::kinds({0x00507D, 0x006B4E, 0x9A4400, 0x99477A, 0x8A5F00, 0x1D6C99, 0x5E5E5E}, rgb(0xFFFFFF),
                           rgb(0x1A1A18), 0.58f, 4, 4),
};

// For paper, in color or gray: alternate kinds are hatched, so that neighbors also differ in gray.
inline constexpr Palette kPrint = [] {
  Palette print = kLight;
  print.canvas = print.rail = rgb(0xFFFFFF);
  print.hairline = rgb(0xC8C8C4);
  print.grid = rgb(0xDCDCD8);
  print.text = print.ink = print.focus = rgb(0x000000);
  print.text2 = rgb(0x262624);
  print.text3 = rgb(0x3C3C39);
  for (std::size_t i = 0; i < print.kinds.size(); ++i) {
    print.kinds[i].outlined = true;
    print.kinds[i].hatched = i % 2 == 1;
  }
  return print;
}();

inline constexpr Palette kDark{
    .dark = true,
    .rail = rgb(0x121214),
    .canvas = rgb(0x17171A),
    .card = rgb(0x1D1D20),
    .well = rgb(0x0F0F0F),
    .raised = rgb(0x26262A),
    .hairline = rgb(0x2E2E33),
    .control = rgb(0x7C7C85),
    .grid = rgb(0x232325),
    .state = {.hover = rgb(0x27272B),
              .active = rgb(0x323237),
              .selected = rgb(0x2B2B30),
              .track = rgb(0x38383D),
              .ink_hover = rgb(0xFFFFFF),
              .ink_active = rgb(0xD2D2D6)},
    .text = rgb(0xEEEEF0),
    .text2 = rgb(0xBDBDC3),
    .text3 = rgb(0x9C9CA4),
    .disabled = rgb(0x94949C),
    .ink = rgb(0xEEEEF0),
    .on_ink = rgb(0x131315),
    .danger = rgb(0xFF7A90),
    .danger_soft = rgb(0x3A1B22),
    .focus = rgb(0xEEEEF0),
    .shade = {rgb(0x000000, 110), rgb(0x000000, 150)},
    .phase = {rgb(0x29292D), rgb(0x3E3E44), rgb(0x303035), rgb(0x47474E)},
    .work = {rgb(0xA4A4AC), rgb(0x6B6B73)},
    .kinds = detail::kinds({0x4FA9DC, 0x3FC79F, 0xFF9448, 0xE7A9CB, 0xFFC74A, 0x9BD5F6, 0xC8C8C8}, rgb(0x0F0F0F),
                           rgb(0xEEEEF0), 0.52f, 7, 4),
    .opacity = {0.10f, 0.38f, 0.72f},
};

inline constexpr Palette kHighContrast{
    .dark = true,
    .quiet_kinds = false,
    .rail = rgb(0x000000),
    .canvas = rgb(0x000000),
    .card = rgb(0x000000),
    .well = rgb(0x000000),
    .raised = rgb(0x111111),
    .hairline = rgb(0x8C8C8C),
    .control = rgb(0xFFFFFF),
    .grid = rgb(0x4A4A4A),
    .state = {.hover = rgb(0x2A2A2A),
              .active = rgb(0x404040),
              .selected = rgb(0x333333),
              .track = rgb(0x6A6A6A),
              .ink_hover = rgb(0xFFF0A0),
              .ink_active = rgb(0xE6C200)},
    .text = rgb(0xFFFFFF),
    .text2 = rgb(0xFFFFFF),
    .text3 = rgb(0xD8D8D8),
    .disabled = rgb(0xB8B8B8),
    .ink = rgb(0xFFE14D),
    .on_ink = rgb(0x000000),
    .danger = rgb(0xFF8FA3),
    .danger_soft = rgb(0x33000C),
    .focus = rgb(0xFFE14D),
    .shade = {rgb(0x000000, 0), rgb(0x000000, 200)},
    .phase = {rgb(0x1C1C1C), rgb(0x3C3C3C), rgb(0x2A2A2A), rgb(0x4A4A4A)},
    .work = {rgb(0xB0B0B0), rgb(0x6E6E6E)},
    .kinds = detail::kinds({0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF}, rgb(0x000000),
                           rgb(0xFFFFFF), 0.52f, 7, 0),
    .opacity = {0.10f, 0.38f, 0.72f},
};

// WCAG 2.2's relative luminance of an opaque color, and contrast of two colors, from 1 to 21.
double luminance(Color color);
double contrast(Color a, Color b);

}  // namespace headroom::app::paint
