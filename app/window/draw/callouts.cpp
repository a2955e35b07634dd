// Callouts, the empty state, tooltips and popups.
#include <algorithm>

#include "app/window/draw/controls.h"
#include "imgui_internal.h"  // BeginTooltipEx

namespace headroom::app::window {

namespace {

constexpr float kCardRadius = 8;

bool begin_popup_window(const char* id, float padding_x, float padding_y) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(padding_x), px(padding_y)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_Border, as_u32(theme().control));
  const bool open = ImGui::BeginPopup(id, ImGuiWindowFlags_NoMove);
  ImGui::PopStyleColor();
  if (!open) ImGui::PopStyleVar(2);
  return open;
}

}  // namespace

float callout(const Rect& at, CalloutKind kind, std::string_view head, std::string_view body, bool draw) {
  const bool danger = kind == CalloutKind::kOutOfMemory;
  const paint::Palette& t = theme();
  const float x = at.x0 + px(40), right = at.x1 - px(14), top = at.y0 + px(11);
  const float head_bottom = paragraph(Face::kSemiBold, 13, 1.5f, {x, top, right, 0}, {}, head, false);
  const float bottom = paragraph(Face::kRegular, 13, 1.5f, {x, head_bottom, right, 0}, {}, body, false) + px(11);
  if (!draw) return bottom;
  const Rect box{at.x0, at.y0, at.x1, bottom};
  fill(box, danger ? t.danger_soft : t.canvas, kCardRadius);
  outline(box, danger ? t.danger : t.hairline, kCardRadius);
  if (danger) hatch({box.x0 + px(1), box.y0 + px(6), box.x0 + px(7), box.y1 - px(6)}, t.danger, 5, 1.4f);
  draw_icon(danger ? Icon::kWarning : Icon::kInfo, at.x0 + px(23), top + px(13 * 0.75f), danger ? t.danger : t.text);
  paragraph(Face::kSemiBold, 13, 1.5f, {x, top, right, 0}, danger ? t.danger : t.text, head);
  paragraph(Face::kRegular, 13, 1.5f, {x, head_bottom, right, 0}, danger ? t.text : t.text2, body);
  return bottom;
}

bool empty_state(const Rect& rect, std::string_view head, std::string_view body, std::string_view action) {
  dashed_outline(rect, theme().control, kCardRadius);
  const float width = std::min(rect.width() - px(32), px(440));
  const float text_height = paragraph(Face::kRegular, 13, 1.5f, {0, 0, width, 0}, {}, body, false);
  const float height = px(28) + text_height + (action.empty() ? 0 : px(44));
  float y = rect.center_y() - height * 0.5f;
  text_in(Face::kSemiBold, 13, {rect.x0, y, rect.x1, y + px(22)}, theme().text, head, 0.5f);
  y += px(28);
  const float x = rect.center_x() - std::min(width, text_width(Face::kRegular, 13, body)) * 0.5f;
  y = paragraph(Face::kRegular, 13, 1.5f, {x, y, x + width, 0}, theme().text2, body);
  if (action.empty()) return false;
  const ButtonText text{action};
  const float half = button_width(text) * 0.5f;
  return button("empty action", {rect.center_x() - half, y + px(12), rect.center_x() + half, y + px(44)}, text);
}

void tooltip(std::string_view text) {
  const ImVec2 around{px(12), px(8)};
  const float width = std::min(px(320), text_width(Face::kRegular, 12, text) + 1);
  const float height = paragraph(Face::kRegular, 12, 1.5f, {0, 0, width, 0}, {}, text, false);
  // ImGui would draw one frame in the size of the tooltip before.
  ImGui::SetNextWindowSize({width + 2 * around.x, height + 2 * around.y});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, around);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, px(kCardRadius));
  ImGui::PushStyleVar(ImGuiStyleVar_PopupBorderSize, line_px(1));
  ImGui::PushStyleColor(ImGuiCol_Border, as_u32(theme().control));
  if (ImGui::BeginTooltipEx(ImGuiTooltipFlags_OverridePrevious, ImGuiWindowFlags_None)) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    paragraph(Face::kRegular, 12, 1.5f, {at.x, at.y, at.x + width, 0}, theme().text, text);
    ImGui::Dummy({width, height});
    ImGui::EndTooltip();
  }
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
}

Rect popup_place(const Rect& anchor, ImVec2 size) {
  const ImVec2 screen = ImGui::GetMainViewport()->Size;
  const float margin = px(4), most = screen.y - 2 * margin;
  const float x = anchor.x0 + size.x <= screen.x - margin ? anchor.x0 : anchor.x1 - size.x;
  const float below = anchor.y1 + margin, above = anchor.y0 - margin - size.y;
  const float y = below + size.y <= screen.y - margin || above < margin ? below : above;
  Rect place{std::max(margin, x), y, 0, 0};
  place.y0 = std::max(margin, std::min(y, screen.y - margin - size.y));
  place.x1 = std::min(place.x0 + size.x, screen.x - margin);
  place.y1 = place.y0 + std::min(size.y, most);
  return place;
}

bool begin_popup(const char* id, const Rect& place, float padding) {
  ImGui::SetNextWindowPos(upper_left(place), ImGuiCond_Always);
  ImGui::SetNextWindowSize(size_of(place), ImGuiCond_Always);
  return begin_popup_window(id, padding, padding);
}

bool begin_centered_popup(const char* id, float width, float padding_x, float padding_y) {
  const ImVec2 screen = ImGui::GetMainViewport()->Size;
  ImGui::SetNextWindowPos({screen.x * 0.5f, screen.y * 0.5f}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowSize({std::min(width, screen.x), 0}, ImGuiCond_Always);
  ImGui::SetNextWindowSizeConstraints({0, 0}, {screen.x, screen.y - px(16)});
  return begin_popup_window(id, padding_x, padding_y);
}

void end_popup() {
  ImGui::EndPopup();
  ImGui::PopStyleVar(2);
}

}  // namespace headroom::app::window
