// The current look.
#include "app/window/draw/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/window/draw/type.h"

namespace headroom::app::window {

namespace {

Look current_look;

void set_sizes(ImGuiStyle& s) {
  s.FontSizeBase = 13 * paint::line_of(paint::Face::kRegular);
  s.WindowPadding = {16, 16}, s.WindowRounding = 0, s.WindowBorderSize = 0, s.WindowMinSize = {32, 32};
  s.ChildRounding = 8, s.ChildBorderSize = 1;
  s.PopupRounding = 8, s.PopupBorderSize = 1;
  s.FramePadding = {10, 7}, s.FrameRounding = 6, s.FrameBorderSize = 1;
  s.ItemSpacing = {8, 8}, s.ItemInnerSpacing = {8, 4}, s.CellPadding = {8, 6};
  s.IndentSpacing = 16;
  s.ScrollbarSize = 10, s.ScrollbarRounding = 5, s.ScrollbarPadding = 2;
  s.GrabMinSize = 16, s.GrabRounding = 8;
  s.SeparatorTextBorderSize = 1, s.SeparatorTextPadding = {0, 8};
  s.SelectableTextAlign = {0, 0.5f}, s.SelectableRounding = 6;
  s.DisabledAlpha = 1;  // disabled items have their own color
  s.HoverDelayShort = 0.15f, s.HoverDelayNormal = 0.40f, s.HoverStationaryDelay = 0.12f;
}

void set_colors(ImGuiStyle& s, const paint::Palette& t) {
  constexpr Color kNothing{0, 0, 0, 0};
  for (ImVec4& color : s.Colors) color = as_vec4(t.text);
  const auto set = [&s](Color color, std::initializer_list<ImGuiCol> slots) {
    for (const ImGuiCol slot : slots) s.Colors[slot] = as_vec4(color);
  };
  set(t.text, {ImGuiCol_Text, ImGuiCol_TextLink, ImGuiCol_UnsavedMarker});
  set(t.disabled, {ImGuiCol_TextDisabled});
  set(t.canvas, {ImGuiCol_WindowBg, ImGuiCol_DockingEmptyBg, ImGuiCol_TabSelected, ImGuiCol_TabDimmedSelected,
                 ImGuiCol_TableHeaderBg});
  set(kNothing, {ImGuiCol_ChildBg, ImGuiCol_BorderShadow, ImGuiCol_ScrollbarBg, ImGuiCol_ResizeGrip,
                 ImGuiCol_TableRowBg, ImGuiCol_TableRowBgAlt});
  set(t.raised, {ImGuiCol_PopupBg});
  set(t.hairline, {ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_TableBorderLight, ImGuiCol_TreeLines});
  set(t.card, {ImGuiCol_FrameBg, ImGuiCol_Button});
  set(t.state.hover, {ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered, ImGuiCol_TabHovered});
  set(t.state.active, {ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive});
  set(t.state.selected, {ImGuiCol_Header, ImGuiCol_DragDropTargetBg});
  set(t.rail, {ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed, ImGuiCol_MenuBarBg, ImGuiCol_Tab,
               ImGuiCol_TabDimmed});
  set(t.control, {ImGuiCol_ScrollbarGrab, ImGuiCol_SeparatorHovered, ImGuiCol_ResizeGripHovered,
                  ImGuiCol_TabDimmedSelectedOverline, ImGuiCol_TableBorderStrong});
  set(t.text3, {ImGuiCol_ScrollbarGrabHovered});
  set(t.text2, {ImGuiCol_ScrollbarGrabActive, ImGuiCol_PlotLines});
  set(t.on_ink, {ImGuiCol_CheckMark});
  set(t.ink, {ImGuiCol_CheckboxSelectedBg, ImGuiCol_SliderGrab, ImGuiCol_InputTextCursor, ImGuiCol_TabSelectedOverline,
              ImGuiCol_PlotLinesHovered, ImGuiCol_PlotHistogram, ImGuiCol_SeparatorActive, ImGuiCol_ResizeGripActive,
              ImGuiCol_DragDropTarget});
  set(t.state.ink_active, {ImGuiCol_SliderGrabActive});
  set(t.state.ink_hover, {ImGuiCol_PlotHistogramHovered});
  set(faded(t.ink, 0.25f), {ImGuiCol_DockingPreview});
  set(faded(t.ink, 0.22f), {ImGuiCol_TextSelectedBg});
  set(t.focus, {ImGuiCol_NavCursor, ImGuiCol_NavWindowingHighlight});
  set(t.shade.scrim, {ImGuiCol_NavWindowingDimBg, ImGuiCol_ModalWindowDimBg});
}

}  // namespace

std::string_view key_of(ThemeId id) {
  constexpr std::array<std::string_view, kNumThemes> kKeys{"light", "dark", "high_contrast"};
  return kKeys[static_cast<std::size_t>(id)];
}

ThemeId theme_from(std::string_view key) {
  for (int i = 0; i < kNumThemes; ++i)
    if (key == key_of(static_cast<ThemeId>(i))) return static_cast<ThemeId>(i);
  return ThemeId::kLight;
}

const paint::Palette& palette_of(ThemeId id) {
  constexpr std::array kPalettes{&paint::kLight, &paint::kDark, &paint::kHighContrast};
  return *kPalettes[static_cast<std::size_t>(id)];
}

const Look& look() { return current_look; }

void apply_look(ThemeId id, float scale) {
  current_look = {id, scale};
  ImGuiStyle style;  // a new style: ScaleAllSizes is cumulative
  set_sizes(style);
  style.ScaleAllSizes(scale);
  style.FontSizeBase *= scale;
  style.ChildBorderSize = style.PopupBorderSize = style.FrameBorderSize = std::max(1.0f, std::floor(scale));
  style.FontScaleMain = style.FontScaleDpi = 1;  // sizes are in device px, see font_size()
  set_colors(style, theme());
  ImGui::GetStyle() = style;
}

}  // namespace headroom::app::window
