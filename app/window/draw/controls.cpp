// Controls that hold a value: select, segmented, slider, text field, and a list in the reader's order.
#include <algorithm>
#include <cmath>

#include "app/window/draw/controls.h"
#include "imgui_internal.h"  // SetKeyOwner: a focused slider takes the arrow keys from navigation
#include "misc/cpp/imgui_stdlib.h"

namespace headroom::app::window {

namespace {

constexpr float kControlRadius = 6;
constexpr float kListPadding = 8;

bool option_row(int index, const Rect& rect, std::string_view label, bool current, std::string_view refused) {
  ImGui::PushID(index);
  const Hit state = hit("option", rect);
  ImGui::PopID();
  if (state.held || state.hovered) fill(rect, state.held ? theme().state.active : theme().state.hover, kControlRadius);
  if (current) draw_icon(Icon::kCheck, rect.x0 + px(16), rect.center_y(), theme().text, 14);
  Rect words{rect.x0 + px(30), rect.y0, rect.x1 - px(8), rect.y1};
  if (!refused.empty()) {
    const Rect why = words.cut_bottom(px(22));
    words.y0 += px(4);
    text_fit(Face::kRegular, 12, {why.x0, why.y0 - px(4), why.x1, why.y1 - px(4)}, theme().text2, refused);
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) tooltip(refused);
  }
  text_in(current ? Face::kSemiBold : Face::kMedium, 13, words, refused.empty() ? theme().text : theme().disabled,
          label);
  if (state.focused) outline(rect, theme().focus, kControlRadius, 2);
  if (current && ImGui::IsWindowAppearing()) ImGui::SetItemDefaultFocus();
  return state.clicked;
}

}  // namespace

bool select(const char* id, const Rect& rect, std::span<const std::string> options, int& selected, Icon icon,
            std::span<const std::string> refused, std::string_view label) {
  const Hit state = hit(id, rect, !options.empty());
  fill(rect, state.held ? theme().state.active : state.hovered ? theme().state.hover : theme().card, kControlRadius);
  outline(rect, theme().control, kControlRadius);
  float x = rect.x0 + px(10);
  if (icon != Icon::kNone) {
    draw_icon(icon, x + px(7), rect.center_y(), theme().text2, 14);
    x += px(20);
  }
  const float end = rect.x1 - px(26);
  if (!label.empty()) {
    const std::string words = shortened(Face::kRegular, 12, label, end - x);
    text_in(Face::kRegular, 12, {x, rect.y0, end, rect.y1}, theme().text2, words);
    x += text_width(Face::kRegular, 12, words) + px(kLabelGap);
  }
  const std::string_view value = selected >= 0 && selected < static_cast<int>(options.size())
                                     ? std::string_view(options[static_cast<std::size_t>(selected)])
                                     : std::string_view();
  const std::string shown = shortened(Face::kMedium, 13, value, end - x);
  text_in(Face::kMedium, 13, {x, rect.y0, end, rect.y1}, theme().text, shown);
  if (shown != value && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) tooltip(value);
  draw_icon(Icon::kChevronDown, rect.x1 - px(14), rect.center_y(), theme().text2, 14);
  if (state.focused) focus_ring(rect, kControlRadius);

  ImGui::PushID(id);
  if (state.clicked) ImGui::OpenPopup("list");
  bool changed = false;
  float width = rect.width();
  for (const std::string& option : options)
    width = std::max(width, text_width(Face::kSemiBold, 13, option) + px(30 + 16 + 16));
  float height = px(2 * kListPadding);
  const auto reason = [&](int i) {
    return i < static_cast<int>(refused.size()) ? std::string_view(refused[static_cast<std::size_t>(i)])
                                                : std::string_view();
  };
  const auto row_height = [&](int i) { return px(reason(i).empty() ? 32.0f : 50.0f); };
  for (int i = 0; i < static_cast<int>(options.size()); ++i) {
    height += row_height(i);
    if (!reason(i).empty())
      width = std::max(width, std::min(px(620), text_width(Face::kRegular, 12, reason(i)) + px(70)));
  }
  if (begin_popup("list", popup_place(rect, {width, height}), kListPadding)) {
    const ImVec2 from = ImGui::GetCursorScreenPos();
    float y = from.y;
    for (int i = 0; i < static_cast<int>(options.size()); ++i) {
      if (option_row(i, {from.x, y, from.x + width - px(2 * kListPadding), y + row_height(i)},
                     options[static_cast<std::size_t>(i)], i == selected, reason(i))) {
        changed = i != selected;
        selected = i;
        ImGui::CloseCurrentPopup();
      }
      y += row_height(i);
    }
    end_popup();
  }
  ImGui::PopID();
  return changed;
}

float segmented_width(std::span<const std::string> options) {
  float width = 0;
  for (const std::string& option : options) width += text_width(Face::kSemiBold, 12, option) + px(24);
  return width;
}

bool segmented(const char* id, const Rect& rect, std::span<const std::string> options, int& selected,
               std::span<const std::string> refused) {
  const paint::Palette& t = theme();
  fill(rect, t.state.track, kControlRadius);
  if (high_contrast()) outline(rect, t.control, kControlRadius);
  float words = 0;
  for (const std::string& option : options) words += text_width(Face::kSemiBold, 12, option);
  const float padding = (rect.width() - words) / std::max<float>(1, static_cast<float>(options.size()));
  bool changed = false;
  float x = rect.x0;
  ImGui::PushID(id);
  for (int i = 0; i < static_cast<int>(options.size()); ++i) {
    const std::string& option = options[static_cast<std::size_t>(i)];
    const float width = text_width(Face::kSemiBold, 12, option) + padding;
    const Rect segment{std::round(x), rect.y0, std::round(x + width), rect.y1};
    x += width;
    const Hit state = hit(option.c_str(), segment);
    if (state.clicked && i != selected) {
      selected = i;
      changed = true;
    }
    const Rect inner = segment.inset(px(2));
    const bool current = i == selected;
    if (current) {
      fill(inner, high_contrast() ? t.ink : t.dark ? t.state.active : t.card, 5);
      if (!high_contrast()) outline(inner, t.control, 5);
    } else if (state.hovered) {
      fill(inner, t.state.hover, 5);
    }
    const std::string_view why = i < static_cast<int>(refused.size())
                                     ? std::string_view(refused[static_cast<std::size_t>(i)])
                                     : std::string_view();
    if (!why.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) tooltip(why);
    const Color label = current ? (high_contrast() ? t.on_ink : t.text) : why.empty() ? t.text2 : t.disabled;
    text_in(current ? Face::kSemiBold : Face::kMedium, 12, segment, label, option, 0.5f);
    if (state.focused) focus_ring(segment, kControlRadius);
  }
  ImGui::PopID();
  return changed;
}

namespace {

constexpr float kToggleIcon = 14, kTogglePadding = 8, kToggleGap = 5;

float toggle_width(const Toggle& toggle, bool with_label) {
  const float words = with_label ? px(kToggleGap) + text_width(Face::kSemiBold, 12, toggle.label) : 0;
  return std::round(px(kToggleIcon + 2 * kTogglePadding) + words);
}

}  // namespace

float toggles_width(std::span<const Toggle> all, bool with_labels) {
  float width = px(4 * (static_cast<float>(all.size()) - 1));
  for (const Toggle& toggle : all) width += toggle_width(toggle, with_labels);
  return width;
}

int toggles(const char* id, const Rect& rect, std::span<const Toggle> all, bool with_labels) {
  const paint::Palette& t = theme();
  int clicked = -1;
  float x = rect.x0;
  ImGui::PushID(id);
  for (int i = 0; i < static_cast<int>(all.size()); ++i) {
    const Toggle& toggle = all[static_cast<std::size_t>(i)];
    const Rect at{x, rect.y0, x + toggle_width(toggle, with_labels), rect.y1};
    x = at.x1 + px(4);
    const bool fixed = !toggle.fixed.empty();
    const Hit state = hit(std::string(toggle.label).c_str(), at, !fixed);
    if (state.clicked) clicked = i;
    if (toggle.on)
      fill(at, t.state.selected, kControlRadius);
    else if (state.hovered)
      fill(at, t.state.hover, kControlRadius);
    if (!fixed) outline(at, toggle.on ? t.control : t.hairline, kControlRadius);
    const Color ink = fixed && !toggle.on ? t.disabled : toggle.on ? t.text : t.text2;
    draw_icon(toggle.icon, at.x0 + px(kTogglePadding + kToggleIcon * 0.5f), at.center_y(), ink, kToggleIcon);
    if (with_labels)
      text_in(toggle.on ? Face::kSemiBold : Face::kMedium, 12,
              {at.x0 + px(kTogglePadding + kToggleIcon + kToggleGap), at.y0, at.x1, at.y1}, ink, toggle.label);
    const std::string_view tip = fixed ? toggle.fixed : toggle.tooltip;
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled) && !tip.empty())
      tooltip(tip);
    if (state.focused) focus_ring(at, kControlRadius);
  }
  ImGui::PopID();
  return clicked;
}

// A tick below the track. A tried value has a flag on the side that it decides: if it fits, everything left of it does;
// if not, nothing right of it does. Flags of neighbors do not overlap.
void draw_slider_mark(const SliderMark& mark, float x, float y) {
  const float foot = y + px(12);
  const bool bad = mark.kind == SliderMark::Kind::kBad;
  const Color ink = bad ? theme().danger : mark.kind == SliderMark::Kind::kGood ? theme().ink : theme().text3;
  canvas()->AddLine({x, y + px(4)}, {x, mark.kind == SliderMark::Kind::kTick ? y + px(9) : foot}, as_u32(ink),
                    line_px(1.5f));
  if (mark.kind == SliderMark::Kind::kTick) return;
  const float tip = bad ? px(7) : -px(7);
  canvas()->AddTriangleFilled({x, foot - px(7)}, {x + tip, foot - px(3.5f)}, {x, foot}, as_u32(ink));
}

bool slider(const char* id, const Rect& rect, float& position, int steps, float hatched_from,
            std::span<const SliderMark> marks) {
  const Hit state = hit(id, rect);
  const float knob = px(7), span = std::max(1.0f, rect.width() - 2 * knob);
  bool changed = false;
  const auto set = [&](float value) {
    value = std::clamp(value, 0.0f, 1.0f);
    changed = changed || value != position;
    position = value;
  };
  if (state.held && ImGui::IsMouseDown(ImGuiMouseButton_Left)) set((ImGui::GetIO().MousePos.x - rect.x0 - knob) / span);
  if (ImGui::IsItemFocused() && !ImGui::GetIO().KeyAlt) {
    const ImGuiID owner = ImGui::GetItemID();
    const float step = steps > 1 ? 1.0f / static_cast<float>(steps - 1) : 0.01f;
    ImGui::SetKeyOwner(ImGuiKey_LeftArrow, owner);
    ImGui::SetKeyOwner(ImGuiKey_RightArrow, owner);
    if (ImGui::IsKeyPressed(ImGuiKey_LeftArrow, ImGuiInputFlags_Repeat, owner)) set(position - step);
    if (ImGui::IsKeyPressed(ImGuiKey_RightArrow, ImGuiInputFlags_Repeat, owner)) set(position + step);
  }
  const float y = rect.center_y(), x = rect.x0 + knob + span * position;
  const Rect track{rect.x0, y - px(2), rect.x1, y + px(2)};
  fill(track, theme().state.track, 2);
  outline(track, faded(theme().control, 0.55f), 2);
  fill({track.x0, track.y0, x, track.y1}, theme().ink, 2);
  if (hatched_from < 1) {
    const Rect beyond{rect.x0 + knob + span * std::max(hatched_from, 0.0f), y - px(5), rect.x1, y + px(5)};
    fill(beyond, theme().danger_soft, 2);
    hatch(beyond, theme().danger, 5, 1.2f);
    outline(beyond, theme().danger, 2);
  }
  for (const SliderMark& mark : marks) draw_slider_mark(mark, rect.x0 + knob + span * mark.at, y);
  if (state.hovered || state.held) disc({x, y}, knob + px(4), faded(theme().ink, 0.14f));
  if (state.focused) ring({x, y}, knob + px(4), theme().focus, 2);
  disc({x, y}, knob, theme().card);
  ring({x, y}, knob, theme().ink, 2);
  return changed;
}

bool enter_pressed() {
  return ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
}

bool text_field(const char* id, const Rect& rect, std::string& text, std::string_view unit, bool focus_now,
                std::string_view hint) {
  fill(rect, theme().card, kControlRadius);
  const float unit_width = unit.empty() ? 0 : text_width(Face::kRegular, 12, unit) + px(10);
  const float size = font_size(Face::kSemiBold, 14);
  ImGui::PushFont(font_of(Face::kSemiBold), size);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(10), (rect.height() - size) * 0.5f));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0.0f);
  for (const ImGuiCol color : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_NavCursor})
    ImGui::PushStyleColor(color, 0);
  ImGui::SetCursorScreenPos(upper_left(rect));
  ImGui::SetNextItemWidth(rect.width() - unit_width);
  if (focus_now || take_focus()) ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputText((std::string("##") + id).c_str(), &text,
                                        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  const bool done = entered || ImGui::IsItemDeactivatedAfterEdit();
  const bool active = ImGui::IsItemActive(), focused = ImGui::IsItemFocused() && ImGui::GetIO().NavVisible;
  ImGui::PopStyleColor(4);
  ImGui::PopStyleVar(2);
  ImGui::PopFont();
  if (text.empty() && !active) text_in(Face::kRegular, 13, rect.inset(px(10), 0), theme().text3, hint);
  outline(rect, active ? theme().ink : theme().control, kControlRadius, active ? 2 : 1);
  text_in(Face::kRegular, 12, {rect.x0, rect.y0, rect.x1 - px(10), rect.y1}, theme().text3, unit, 1);
  if (focused && !active) focus_ring(rect, kControlRadius);
  return done;
}

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
