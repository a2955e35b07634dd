// A column of words and drawings.
#include "app/window/views/views.h"

#include <algorithm>

#include "imgui_internal.h"  // ImGuiWindow: the width of a column

namespace headroom::app::window {

float text_line(const PageFrame& frame) { return wide(frame) ? 1.6f : 1.45f; }
float text_em(const PageFrame& frame) {
  return wide(frame) || ImGui::GetContentRegionAvail().x > px(kColumnWidth) ? 16.0f : 14.0f;
}

void gap(float height) { ImGui::Dummy({0, px(height)}); }

Rect content_rect(float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  return {at.x, at.y, at.x + ImGui::GetContentRegionAvail().x, at.y + px(height)};
}

Rect take(float height) {
  const Rect rect = content_rect(height);
  ImGui::Dummy(size_of(rect));
  return rect;
}

void end_drawing(const Rect& rect) {
  ImGui::SetCursorScreenPos({rect.x0, rect.y1});
  ImGui::Dummy({0, 0});
}

void put_words(Face face, float em, float line, Color color, std::string_view words) {
  Rect at = content_rect(0);
  at.y1 = paragraph(face, em, line, at, color, words);
  end_drawing(at);
}

void put_callout(CalloutKind kind, std::string_view head, std::string_view body) {
  Rect at = content_rect(0);
  at.y1 = callout(at, kind, head, body);
  end_drawing(at);
}

float card_em(const PageFrame& frame) { return wide(frame) ? 14.0f : 13.0f; }

bool begin_card(const char* id, const PageFrame& frame) {
  const float padding = wide(frame) ? 16 : 12;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(padding), px(padding)));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, as_u32(theme().card));
  return ImGui::BeginChild(id, {0, 0},
                           ImGuiChildFlags_Borders | ImGuiChildFlags_AutoResizeY |
                               ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_NavFlattened);
}

void end_card() {
  ImGui::EndChild();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

void card_head(Icon icon, std::string_view words) {
  const Rect head = take(20);
  draw_icon(icon, head.x0 + px(7), head.center_y(), theme().text, 15);
  text_in(Face::kSemiBold, 13, {head.x0 + px(22), head.y0, head.x1, head.y1}, theme().text, words);
}

bool begin_column(const char* id, const Rect& rect) {
  const float ring = px(6);
  ImGui::SetCursorScreenPos({rect.x0 - ring, rect.y0 - ring});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ring, ring));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  const float bar = ImGui::GetStyle().ScrollbarSize, edge = ImGui::GetCurrentWindow()->InnerRect.Max.x;
  const float right = std::min(rect.x1 + ring + bar, std::max(rect.x1 + ring, edge));  // child window's right edge
  const ImVec2 size{right - (rect.x0 - ring), rect.height() + 2 * ring};
  const bool seen = ImGui::BeginChild(id, size, ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_NavFlattened);
  // The content is equally wide with and without a scroll bar; otherwise words that just fit would toggle the bar.
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  window->ContentRegionRect.Max.x = window->WorkRect.Max.x = std::min(rect.x1, right - ring - bar);
  return seen;
}

void end_column() {
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
}

}  // namespace headroom::app::window
