// The verdict and the switches below a figure.
#include "app/window/views/views.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/window/draw/controls.h"
#include "app/window/views/figure_card.h"
#include "app/window/views/verdict_parts.h"

namespace headroom::app::window {

namespace {

using predict::Verdict;

constexpr float kHeadline = 34, kStripPadding = 8;

// Rows of chips.
int rows_of(const PageFrame& frame) { return frame.density == Density::kWide ? 2 : 1; }

void draw_parts(const Rect& rect, const std::string& measured, std::span<const std::string> parts) {
  std::vector<std::string> wordings{parts.front(), measured + parts.front()};
  for (const std::string& part : parts.subspan(1)) wordings.push_back(wordings.back() + part);
  const auto fits = [&](const std::string& words) { return text_width(Face::kRegular, 12, words) <= rect.width(); };
  const auto shown = std::find_if(wordings.rbegin(), wordings.rend(), fits);
  if (shown == wordings.rend()) return;
  text_in(Face::kRegular, 12, rect, theme().text2, *shown);
  const bool cut = shown != wordings.rbegin();
  if (cut && pointed(rect)) tooltip(wordings.back());
}

// Returns the right edge.
float draw_make_fit_button(PageFrame& frame, float x, const Rect& row) {
  const ButtonText text{"Make it fit", Icon::kNone, "", "The cheapest switches that make this step fit on the card"};
  const Rect at{x, row.center_y() - px(13), x + button_width(text), row.center_y() + px(13)};
  if (button("make it fit", at, text) || std::exchange(frame.state.sizing.makes_fit, false)) ImGui::OpenPopup("sets");
  constexpr float kWidth = 560, kHeight = 232, kInset = 16;
  if (!begin_popup("sets", popup_place(at, {px(kWidth), px(kHeight)}), kInset)) return at.x1;
  draw_make_fit(frame, px(kWidth - 2 * kInset));
  end_popup();
  return at.x1;
}

void draw_headline(PageFrame& frame, const Rect& row) {
  const StepPlan* const plan = page::plan_of(frame.page);
  float end = draw_card_choice(frame, row);
  if (plan == nullptr || plan->cards.empty()) {
    const std::string why = plan != nullptr && !plan->refusal.empty() ? plan->refusal : "Computing the prediction";
    text_fit(Face::kRegular, 13, {row.x0, row.y0, end, row.y1}, theme().text2, why);
    return;
  }
  const bool current = plan->params == frame.page.settings();
  const PeakUnit unit = peak_unit(frame, plan->allocated);
  const Color ink = current ? theme().text : theme().text3;
  const Rect number = text_in(Face::kSemiBold, 24, row, ink, unit.number(plan->allocated));
  float x = text_in(Face::kMedium, 12, {number.x1 + px(5), row.y0 + px(5), end, row.y1}, theme().text2, unit.name).x1;
  if (!plan->why_formula.empty()) x = draw_formula_badge(x + px(12), row, plan->why_formula);
  x = draw_pill(x + px(12), row.center_y(), plan->cards.front().fit.verdict, verdict_words(*plan, unit), current) +
      px(12);
  if (plan->cards.front().fit.verdict != Verdict::kFits) x = draw_make_fit_button(frame, x, row) + px(12);
  const auto& [largest, wrong] = largest_words(frame, *plan);
  // On stage, words need the button's room.
  if (plan->cards.front().largest_batch && !frame.ui.stage) end = draw_try(frame, {x, row.y0, end, row.y1});
  const float of_largest = text_width(Face::kSemiBold, 13, largest);
  const bool with_largest = x + of_largest < end;
  if (with_largest) text_in(Face::kSemiBold, 13, {x, row.y0, end, row.y1}, wrong ? theme().danger : ink, largest, 1);
  const Rect rest{x, row.y0, end - (with_largest ? of_largest + px(16) : 0), row.y1};
  draw_parts(rest, measured_words(plan->allocated, page::measured_peak(frame.page), unit), parts_words(*plan, unit));
}

// A button lists the chips without room.
void draw_rest(PageFrame& frame, const std::vector<Chip>& chips, std::size_t from, const Rect& at, bool fits_now) {
  const std::string words = fmt::format("{} more", chips.size() - from);
  if (button("more ways", at, {words}, ButtonKind::kGhost)) ImGui::OpenPopup("ways out");
  constexpr float kInset = 12;
  float widest = 0;
  for (std::size_t i = from; i < chips.size(); ++i) widest = std::max(widest, chips[i].width);
  const float height = static_cast<float>(chips.size() - from) * px(kChip + kChipGap) - px(kChipGap);
  const Rect place = popup_place(at, {widest + px(2 * kInset), height + px(2 * kInset)});
  if (!begin_popup("ways out", place, kInset)) return;
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  Pressed pressed;
  for (std::size_t i = from; i < chips.size(); ++i) {
    const float y = begin.y + static_cast<float>(i - from) * px(kChip + kChipGap);
    draw_chip(chips[i], {begin.x, y, begin.x + widest, y + px(kChip)}, fits_now, pressed);
  }
  end_popup();
  take_press(frame, pressed);
}

void draw_ways(PageFrame& frame, const Rect& rect) {
  const StepPlan* const plan = page::plan_of(frame.page);
  if (plan == nullptr || plan->cards.empty()) return;
  const bool fits_now = plan->cards.front().fit.verdict == Verdict::kFits;
  const PeakUnit unit = peak_unit(frame, plan->allocated);
  const std::vector<Chip> chips = chips_on(frame, rect, unit, fits_now);
  if (chips.empty()) text_in(Face::kRegular, 12, rect, theme().text2, "Computing the effect of each technique");
  constexpr float kRest = 84;
  float x = rect.x0, y = rect.y0;
  Pressed pressed;
  std::size_t i = 0;
  for (; i < chips.size(); ++i) {
    const bool last_row = y + px(2 * kChip) > rect.y1;
    const bool last_chip = i + 1 == chips.size();
    const float room = rect.x1 - (last_row && !last_chip ? px(kRest) : 0);
    if (x + chips[i].width > room) {
      if (last_row) break;
      x = rect.x0;
      y += px(kChip + kChipGap);
    }
    draw_chip(chips[i], {x, y, x + chips[i].width, y + px(kChip)}, fits_now, pressed);
    x += chips[i].width + px(kChipGap);
  }
  if (i < chips.size()) draw_rest(frame, chips, i, {x, y, x + px(kRest), y + px(kChip)}, fits_now);
  take_press(frame, pressed);
}

}  // namespace

float verdict_height(const PageFrame& frame) {
  if (!page::is_about_step(frame.page) || !page::card_of(frame.page)) return 0;
  const auto rows = static_cast<float>(rows_of(frame));
  return kHeadline + rows * (kChip + kChipGap) + 2 * kStripPadding - 2;
}

void draw_strip_veil(const Rect& rect, std::string_view what) {
  dashed_outline(rect, theme().hairline, 6);
  text_fit(Face::kRegular, 12, rect.inset(px(10), 0), theme().text3, fmt::format("After your answer: {}", what), 0.5f);
}

void draw_verdict(PageFrame& frame, const Rect& rect) {
  if (!page::has_verdict(frame.page)) return draw_strip_veil(rect, "whether it fits, and what each technique changes");
  fill(rect, theme().canvas, 6);
  outline(rect, theme().hairline, 6);
  Rect inner = rect.inset(px(14), px(kStripPadding));
  draw_headline(frame, inner.cut_top(px(kHeadline - 4)));
  inner.cut_top(px(6));
  draw_ways(frame, inner);
}

}  // namespace headroom::app::window
