// The sets of *Make it fit*.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/window/draw/controls.h"
#include "app/window/views/verdict_parts.h"
#include "app/window/views/views.h"

namespace headroom::app::window {

namespace {

using experiments::AdvisedSet;

constexpr float kRow = 46;  // px at scale 1

std::string switches_of(const AdvisedSet& set) {
  std::string words;
  for (const experiments::AdvisedSwitch& each : set.switches)
    words += (words.empty() ? "" : ", ") + each.what->button();
  return words;
}

// "20.1 GiB; a step takes 1.16 times as long; gives up exactness"
std::string price_of(const AdvisedSet& set, const PeakUnit& unit) {
  std::string words = fmt::format("{} {}", unit.number(set.fit.reserved), unit.name);
  if (!set.fits()) words += fmt::format(", {} too large", unit.number(set.fit.reserved - set.fit.limit));
  if (const auto times = experiments::step_time(set))
    words += fmt::format("; a step takes {:.2f} times as long", *times);
  else
    words += "; time not measured";
  const bool exact = std::ranges::none_of(set.switches, [](const auto& each) { return each.what->cost.exactness; });
  return words + (exact ? "" : "; gives up exactness");
}

void draw_keeps(PageFrame& frame, const Rect& row) {
  page::MakeFit& make_fit = frame.page.verdict().make_fit();
  GivenUp may = make_fit.may();
  const std::array<Toggle, 2> keeps{Toggle{.label = "Keep speed",
                                           .icon = Icon::kCheck,
                                           .on = !may.speed,
                                           .tooltip = "Only switches after which a step is as fast"},
                                    Toggle{.label = "Keep exactness",
                                           .icon = Icon::kCheck,
                                           .on = !may.exactness,
                                           .tooltip = "Only switches that train the same numbers"}};
  const int clicked = toggles("keeps", row.left(toggles_width(keeps, true)), keeps, true);
  if (clicked == 0) may.speed = !may.speed;
  if (clicked == 1) may.exactness = !may.exactness;
  make_fit.set_may(may);
}

// True if clicked.
bool draw_set(PageFrame& frame, int index, const AdvisedSet& set, const PeakUnit& unit, const Rect& row) {
  ImGui::PushID(index);
  const Hit state = hit("set", row);
  ImGui::PopID();
  if (state.hovered || state.focused) {
    fill(row, theme().state.hover, 6);
    frame.state.sizing.previewed = page::with_set(frame.page, set);
  }
  if (state.focused) focus_ring(row, 6);
  Rect inner = row.inset(px(8), px(4));
  const std::string words = switches_of(set);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) tooltip("Turn on: " + experiments::labels_of(set));
  text_fit(Face::kSemiBold, 13, inner.cut_top(px(19)), theme().text, words);
  text_fit(Face::kRegular, 12, inner, theme().text2, price_of(set, unit));
  return state.clicked;
}

std::string summary_of(const Advice* advice) {
  if (advice == nullptr) return "Searching sets of up to four switches";
  if (!advice->refusal.empty()) return advice->refusal;
  if (advice->sets.empty()) return advice->fits() ? "It fits as it is." : "No allowed switch makes it smaller.";
  return advice->fits() ? "A click turns on all switches of a set" : "No set of four switches fits. The smallest:";
}

}  // namespace

void draw_make_fit(PageFrame& frame, float width) {
  page::PageModel& page = frame.page;
  page.verdict().make_fit().look();
  const Advice* const advice = page.verdict().make_fit().advice();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  Rect column{from.x, from.y, from.x + width, from.y + px(3 * kRow + 64)};
  draw_keeps(frame, column.cut_top(px(26)));
  column.cut_top(px(8));
  text_fit(Face::kRegular, 12, column.cut_top(px(20)), theme().text2, summary_of(advice));
  column.cut_top(px(4));
  const AdvisedSet* chosen = nullptr;
  if (advice != nullptr)
    for (std::size_t i = 0; i < advice->sets.size(); ++i) {
      const AdvisedSet& set = advice->sets[i];
      const PeakUnit unit = peak_unit(frame, std::max(set.fit.reserved, set.fit.limit));
      if (draw_set(frame, static_cast<int>(i), set, unit, column.cut_top(px(kRow)))) chosen = &set;
    }
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy({width, px(58 + 3 * kRow)});
  if (chosen == nullptr) return;
  page.adopt(page::with_set(page, *chosen));
  if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId)) ImGui::CloseCurrentPopup();
}

}  // namespace headroom::app::window
