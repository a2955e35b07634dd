// Handles keys and draws the page of keys.
#include <algorithm>
#include <utility>

#include "app/page/page_model.h"
#include "app/window/draw/controls.h"
#include "app/window/shell/keys.h"
#include "app/window/widgets/param_control.h"
#include "imgui_internal.h"  // SetKeyOwner

namespace headroom::app::window {

namespace {

using Group = KeyEntry::Group;
using Needs = KeyEntry::Needs;

bool pressed(const KeyEntry& entry, ImGuiKeyChord keys) {
  if (!entry.owned) return ImGui::IsKeyChordPressed(keys, entry.repeats ? ImGuiInputFlags_Repeat : 0);
  // ImGui's navigation uses this key, too. Owners take effect a frame later, so they are set in every frame.
  const auto key = static_cast<ImGuiKey>(keys);
  const ImGuiID owner = ImGui::GetID("page keys");
  ImGui::SetKeyOwner(key, owner);
  // Alt with an arrow belongs to the history.
  return !ImGui::GetIO().KeyAlt && ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner);
}

bool typed(char wanted) {
  const ImVector<ImWchar>& queue = ImGui::GetIO().InputQueueCharacters;
  return wanted != 0 && std::find(queue.begin(), queue.end(), ImWchar(wanted)) != queue.end();
}

unsigned where_now(const PageFrame& frame) {
  const bool asked = frame.page.question().hides();
  if (frame.ui.stage) return asked ? kStageAsked : kStageAnswered;
  return asked ? kDeskAsked : kDeskAnswered;
}

bool has_needs(const KeyEntry& entry, const PageFrame& frame, bool free) {
  switch (entry.needs) {
    case Needs::kNothing:
      return true;
    case Needs::kFree:
      return free;
    case Needs::kNoControl:  // a focused control takes Enter, Space and arrows
      return free && !(ImGui::GetIO().NavVisible && ImGui::IsAnyItemFocused());
    case Needs::kNoSlider:
      return free && frame.state.settings.takes_digits.empty();
    case Needs::kTimeline:
      return free && frame.state.timeline_focus;
  }
  return false;
}

// On a blank stage any key only shows the picture again.
bool lift_blank(UiState& ui) {
  if (!ui.stage || ui.blank == UiState::Blank::kNone) return false;
  for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_NamedKey_END; ++key)
    if (ImGui::IsKeyPressed(static_cast<ImGuiKey>(key), false)) ui.blank = UiState::Blank::kNone;
  return true;
}

void draw_group(std::string_view head, Group group, Rect& column) {
  text_in(Face::kMedium, 12, column.cut_top(px(22)), theme().text3, head);
  for (const KeyEntry& entry : key_table()) {
    if (entry.group != group || entry.caps.empty()) continue;
    const Rect row = column.cut_top(px(28));
    float x = row.x0;
    std::string_view keys = entry.caps;
    while (!keys.empty()) {
      const std::size_t end = keys.find(' ');
      keycap(x, row.center_y(), keys.substr(0, end));
      keys.remove_prefix(end == std::string_view::npos ? keys.size() : end + 1);
    }
    const float text_x = std::max(x + px(4), row.x0 + px(110));
    text_in(Face::kRegular, 13, {text_x, row.y0, row.x1, row.y1}, theme().text, entry.does);
  }
  column.cut_top(px(12));
}

}  // namespace

Turn take_keys(PageFrame& frame) {
  if (lift_blank(frame.ui)) return Turn::kStay;
  // ImGui closes a popup before its Escape arrives here; that Escape must do nothing else.
  const bool open = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  const bool popup = std::exchange(frame.ui.popup, open) || open;
  const bool free = !popup && !ImGui::GetIO().WantTextInput;
  const unsigned where = where_now(frame);  // before any key acts
  Turn turn = Turn::kStay;
  for (const KeyEntry& entry : key_table()) {
    if (entry.act.empty() || (entry.where & where) == 0 || !has_needs(entry, frame, free)) continue;
    if (typed(entry.typed)) turn = entry.act(frame, 0);
    for (const KeyEntry::Press& press : entry.presses) {
      if (press.keys == 0 || !pressed(entry, press.keys)) continue;
      if (const Turn to = entry.act(frame, press.which); to != Turn::kStay) turn = to;
    }
  }
  type_digits(frame.state.settings);
  return turn;
}

void draw_keys(PageFrame& frame) {
  if (frame.ui.open.keys) ImGui::OpenPopup("keys page");
  frame.ui.open.keys = false;
  constexpr float kPadding = 24;
  const float screen = ImGui::GetMainViewport()->Size.x;
  const bool two = screen >= px(760);
  const float width = std::min(px(two ? 840 : 380), screen), inner = width - px(2 * kPadding);
  if (!begin_centered_popup("keys page", width, kPadding, 20)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Rect left{at.x, at.y, at.x + (two ? inner * 0.5f : inner), at.y + px(2000)};
  draw_group("Anywhere", Group::kAnywhere, left);
  Rect right = two ? Rect{at.x + inner * 0.5f, at.y, at.x + inner, at.y + px(2000)} : left;
  draw_group("Page", Group::kPage, right);
  draw_group("Timeline", Group::kTimeline, right);
  draw_group("On stage", Group::kStage, right);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({inner, std::max(left.y0, right.y0) - at.y - px(12)});
  end_popup();
}

}  // namespace headroom::app::window
