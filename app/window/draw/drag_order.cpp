// A list that the reader reorders.
#include "app/window/draw/drag_order.h"

#include <algorithm>

namespace headroom::app::window {

namespace {

void draw_grip(float x, float y, Color color) {
  for (int row = -1; row <= 1; ++row)
    for (int column = 0; column <= 1; ++column)
      disc({x + px(5) * static_cast<float>(column), y + px(5) * static_cast<float>(row)}, px(1.3f), color);
}

}  // namespace

std::optional<DragOrder::Move> DragOrder::draw(const Rect& column, std::span<const std::string> ids, float height,
                                               bool enabled, const std::function<void(const Row&)>& draw_row) {
  std::optional<Move> move;
  if (held_ && (!enabled || !ImGui::IsMouseDown(ImGuiMouseButton_Left))) held_.reset();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const float y = column.y0 + height * static_cast<float>(i);
    const Rect row{column.x0, y, column.x1, y + height - px(2)};
    const Hit state = hit(ids[i].c_str(), row, enabled);
    if (held_ == i || state.hovered) fill(row, held_ == i ? theme().state.active : theme().state.hover, 6);
    if (state.focused) focus_ring(row, 6);
    draw_grip(row.x0 + px(8), row.center_y(), enabled ? theme().text3 : theme().disabled);
    if (state.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) held_ = i;
    const bool alt = enabled && ImGui::GetIO().KeyAlt && ImGui::IsItemFocused();
    if (alt && ImGui::IsKeyPressed(ImGuiKey_UpArrow) && i > 0)
      move = Move{i, i - 1};
    else if (alt && ImGui::IsKeyPressed(ImGuiKey_DownArrow) && i + 1 < ids.size())
      move = Move{i, i + 1};
    draw_row(
        {i, {row.x0 + px(24), row.y0, row.x1, row.y1}, !held_ && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)});
  }
  if (!held_) return move;
  const auto place = static_cast<std::ptrdiff_t>((ImGui::GetIO().MousePos.y - column.y0) / height);
  const auto to = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, std::ssize(ids) - 1));
  if (to == *held_) return move;
  move = Move{*held_, to};
  held_ = to;
  return move;
}

}  // namespace headroom::app::window
