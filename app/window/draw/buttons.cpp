// Buttons, badges and small marks.
#include "app/window/draw/controls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "imgui_internal.h"  // FocusItem

namespace headroom::app::window {

namespace {

constexpr float kButtonRadius = 6;
constexpr float kPill = 100;  // more than half of any badge's height

bool next_takes_focus = false;  // see focus_next()

constexpr Color kNoColor{0, 0, 0, 0};
struct ButtonColors {
  Color ground, label;
};

ButtonColors colors_of(ButtonKind kind, const Hit& state, bool enabled) {
  const paint::Palette& t = theme();
  if (!enabled) return {kind == ButtonKind::kGhost ? kNoColor : t.state.hover, t.disabled};
  if (kind == ButtonKind::kPrimary)
    return {state.held ? t.state.ink_active : state.hovered ? t.state.ink_hover : t.ink, t.on_ink};
  const Color resting = kind == ButtonKind::kGhost ? kNoColor : t.card;
  return {state.held ? t.state.active : state.hovered ? t.state.hover : resting, t.text};
}

float hint_width(std::string_view keys) { return keys.empty() ? 0 : text_width(Face::kMedium, 11, keys) + px(18); }

struct BadgeFacts {
  std::string_view word;
  Icon icon;
};
constexpr std::array<BadgeFacts, 4> kBadges{{{"Formula", Icon::kFormula},
                                             {"Predicted", Icon::kPredicted},
                                             {"Recorded", Icon::kRecorded},
                                             {"Live", Icon::kLive}}};

}  // namespace

void focus_next() { next_takes_focus = true; }

bool take_focus() { return std::exchange(next_takes_focus, false); }

Hit hit(const char* id, const Rect& rect, bool enabled) {
  ImGui::SetCursorScreenPos(upper_left(rect));
  if (!enabled) ImGui::BeginDisabled();
  ImGui::PushStyleColor(ImGuiCol_NavCursor, 0);  // focus_ring() draws the ring
  Hit state;
  state.clicked = ImGui::InvisibleButton(id, {std::max(1.0f, rect.width()), std::max(1.0f, rect.height())},
                                         ImGuiButtonFlags_EnableNav);
  if (take_focus()) {
    ImGui::FocusItem();
    ImGui::SetNavCursorVisible(true);
  }
  state.hovered = ImGui::IsItemHovered();
  state.held = ImGui::IsItemActive();
  state.focused = ImGui::IsItemFocused() && ImGui::GetIO().NavVisible;
  ImGui::PopStyleColor();
  if (!enabled) ImGui::EndDisabled();
  return state;
}

void focus_ring(const Rect& rect, float radius) {
  const float gap = px(3);
  outline({rect.x0 - gap, rect.y0 - gap, rect.x1 + gap, rect.y1 + gap}, theme().focus, radius + 3, 2);
}

float button_width(const ButtonText& text) {
  if (text.label.empty()) return px(32);
  return text_width(Face::kMedium, 13, text.label) + px(24) + (text.icon == Icon::kNone ? 0 : px(22)) +
         hint_width(text.keys);
}

bool button(const char* id, const Rect& rect, const ButtonText& text, ButtonKind kind, bool enabled) {
  const Hit state = hit(id, rect, enabled);
  const auto [ground, label] = colors_of(kind, state, enabled);
  if (ground.a != 0) fill(rect, ground, kButtonRadius);
  if (kind == ButtonKind::kSecondary && enabled) outline(rect, theme().control, kButtonRadius);
  if (state.focused) focus_ring(rect, kButtonRadius);

  const float words = text_width(Face::kMedium, 13, text.label), hint = hint_width(text.keys);
  const float icon = text.icon == Icon::kNone ? 0 : px(16), gap = icon > 0 && !text.label.empty() ? px(6) : 0;
  float x = rect.center_x() - (words + icon + gap + hint) * 0.5f;
  const bool solid = text.icon == Icon::kPlay || text.icon == Icon::kStop;
  draw_icon(text.icon, x + icon * 0.5f, rect.center_y(), label, solid ? 13 : 16);
  x += icon + gap;
  text_in(Face::kMedium, 13, {x, rect.y0, rect.x1, rect.y1}, label, text.label);
  if (hint > 0) {
    const Rect cap{x + words + px(8), rect.center_y() - px(9), x + words + hint, rect.center_y() + px(9)};
    outline(cap, faded(label, 0.45f), 4);
    text_in(Face::kMedium, 11, cap, label, text.keys, 0.5f);
  }
  if (!text.tooltip.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled))
    tooltip(text.tooltip);
  return state.clicked && enabled;
}

void keycap(float& x, float center_y, std::string_view key) {
  const float width = std::max(px(20), text_width(Face::kMedium, 11, key) + px(10));
  const Rect cap{x, center_y - px(9), x + width, center_y + px(9)};
  fill(cap, theme().card, 4);
  outline(cap, theme().control, 4);
  text_in(Face::kMedium, 11, cap, theme().text2, key, 0.5f);
  x += width + px(4);
}

void progress_bar(const Rect& rect, float fraction) {
  fill(rect, theme().state.track, kPill);
  if (fraction <= 0) return;
  const float end = rect.x0 + std::max(rect.height(), rect.width() * std::clamp(fraction, 0.0f, 1.0f));
  fill({rect.x0, rect.y0, end, rect.y1}, theme().ink, kPill);
}

float source_badge_width(record::Source source) {
  return px(8) + px(14) + px(5) + text_width(Face::kMedium, 12, kBadges[static_cast<std::size_t>(source)].word) +
         px(10);
}

float source_badge(float x, float center_y, record::Source source) {
  const BadgeFacts& facts = kBadges[static_cast<std::size_t>(source)];
  const float height = px(22), top = std::round(center_y - height * 0.5f);
  const Rect badge{x, top, x + source_badge_width(source), top + height};
  Color label = theme().text;
  switch (source) {
    case record::Source::kFormula:
      outline(badge, theme().control, kPill);
      break;
    case record::Source::kPredicted:
      dashed_outline(badge, theme().control, 11);
      break;
    case record::Source::kRecorded:
      fill(badge, theme().state.selected, kPill);
      if (high_contrast()) outline(badge, theme().control, kPill);
      break;
    case record::Source::kLive:
      fill(badge, theme().ink, kPill);
      label = theme().on_ink;
      break;
  }
  draw_icon(facts.icon, badge.x0 + px(8) + px(7), badge.center_y(), label, 14);
  text_in(Face::kMedium, 12, {badge.x0 + px(27), badge.y0, badge.x1, badge.y1}, label, facts.word);
  return badge.x1;
}

}  // namespace headroom::app::window
