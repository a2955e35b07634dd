// Techniques as switches.
#include <string>
#include <vector>

#include "app/page/page_facts.h"
#include "app/window/draw/controls.h"
#include "app/window/views/verdict_parts.h"

namespace headroom::app::window {

using page::WayOut, predict::Verdict;

namespace {

constexpr float kHold = 0.25f;  // seconds after which a press counts as holding

std::string tip_of(const WayOut& way) {
  std::string tip = way.what->reason;
  if (way.what->cost.exactness) tip += " It changes the results of training.";
  if (way.what->cost.speed) tip += " A step takes longer.";
  tip += way.turned
             ? way.on ? " Click: off. Hold: see the figure without it." : " Click: on. Hold: see the figure with it."
             : " " + way.why_not;
  return tip;
}

Chip chip_of(const WayOut& way, const PeakUnit& unit, bool fits_now) {
  // A change from other settings would be misread.
  std::string change = way.change && way.current ? unit.change(*way.change) : way.turned ? "…" : "";
  if (!fits_now && !way.on && way.current && way.verdict == Verdict::kFits) change += ", fits";
  // Leaves room for the awaited number.
  const float least = text_width(Face::kRegular, 12, "−00.0");
  const float width = text_width(Face::kSemiBold, 12, way.what->button()) +
                      (change.empty() ? 0 : px(8) + std::max(least, text_width(Face::kRegular, 12, change))) + px(22);
  return {&way, std::move(change), width};
}

}  // namespace

void draw_chip(const Chip& chip, const Rect& at, bool fits_now, Pressed& pressed, bool change_at_end) {
  const WayOut& way = *chip.way;
  const Hit state = hit(("way " + way.what->id).c_str(), at, way.turned.has_value());
  const bool enough = fits_now || way.on || way.verdict == Verdict::kFits;
  const Color label = way.on ? theme().on_ink : !way.turned ? theme().disabled : enough ? theme().text : theme().text2;
  if (way.on)
    fill(at, state.hovered ? theme().state.ink_hover : theme().ink, 13);
  else if (state.hovered)
    fill(at, state.held ? theme().state.active : theme().state.hover, 13);
  if (!way.on) outline(at, way.turned ? theme().control : theme().hairline, 13, !fits_now && enough && !way.on ? 2 : 1);
  if (state.focused) focus_ring(at, 13);
  const float x =
      text_in(Face::kSemiBold, 12, {at.x0 + px(11), at.y0, at.x1, at.y1}, label, way.what->button()).x1 + px(8);
  const Color second = way.on ? theme().on_ink : theme().text2;
  text_in(Face::kRegular, 12, {x, at.y0, at.x1 - px(11), at.y1}, second, chip.change, change_at_end ? 1 : 0);
  const bool tip = ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled);
  if (tip && !state.held) tooltip(tip_of(way));
  if (!way.turned) return;
  if (state.clicked) pressed.clicked = &way;
  if (state.held) pressed.held = &way;
}

// A short press turns the switch. A long press shows the figure with the switch turned, until released.
void take_press(PageFrame& frame, const Pressed& pressed) {
  page::PageModel& page = frame.page;
  if (page.history().holding()) {
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) page.release();
    return;
  }
  if (pressed.held != nullptr && ImGui::GetIO().MouseDownDuration[ImGuiMouseButton_Left] > kHold)
    page.hold(*pressed.held);
  else if (pressed.clicked != nullptr)
    page::turn(page, *pressed.clicked);
}

// Chips stay in place under the mouse; a click could otherwise hit another chip.
std::vector<Chip> chips_on(PageFrame& frame, const Rect& rect, const PeakUnit& unit, bool fits_now) {
  std::vector<Chip> chips;
  std::vector<std::string>& names = frame.state.sizing.ways;
  if (names.empty() || !ImGui::IsMouseHoveringRect(upper_left(rect), lower_right(rect))) {
    names.clear();
    for (const WayOut* way : frame.page.verdict().shown_ways()) names.emplace_back(way->what->button());
  }
  for (const std::string& name : names)
    for (const WayOut& way : frame.page.verdict().ways())
      if (way.what->button() == name) chips.push_back(chip_of(way, unit, fits_now));
  return chips;
}

}  // namespace headroom::app::window
