// A presenter's screens and shades.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/page/page_model.h"
#include "app/page/param_scale.h"
#include "app/window/shell/chrome.h"
#include "app/window/shell/keys.h"
#include "app/window/views/views.h"

namespace headroom::app::window {

namespace {

constexpr std::string_view kMainSlider = "batch";

// Shades a ring that extends beyond the window. ImGui would fold a thick circle at its inner edge.
void shade_around(ImDrawList& list, const ImVec2& center, float inner, float outer) {
  constexpr int kCorners = 96;
  constexpr ImU32 kShade = IM_COL32(0, 0, 0, 150);
  const ImVec2 uv = ImGui::GetFontTexUvWhitePixel();
  list.PrimReserve(6 * kCorners, 2 * kCorners);
  const unsigned first = list._VtxCurrentIdx;
  for (int i = 0; i < kCorners; ++i) {
    const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(i) / kCorners;
    for (const float radius : {inner, outer})
      list.PrimWriteVtx({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)}, uv, kShade);
  }
  for (unsigned i = 0; i < kCorners; ++i) {
    const unsigned next = (i + 1) % kCorners;
    for (const unsigned corner : {2 * i, 2 * i + 1, 2 * next + 1, 2 * i, 2 * next + 1, 2 * next})
      list.PrimWriteIdx(static_cast<ImDrawIdx>(first + corner));
  }
}

// An open question is revealed, with any guess; then come the steps and the next page.
Turn next_screen(PageFrame& frame) {
  page::Question& question = frame.page.question();
  if (frame.state.words.below)
    frame.state.words.scroll = +1;
  else if (question.can_lock())
    lock_answer(frame);
  else if (question.hides())
    question.skip();
  else if (!begin_more(frame) && !walk(frame, +1))
    return Turn::kOn;
  return Turn::kStay;
}

Turn screen_before(PageFrame& frame) {
  if (frame.state.words.above)
    frame.state.words.scroll = -1;
  else if (frame.state.reading_more && !walk(frame, -1))
    leave_more(frame);
  else if (!frame.state.reading_more)
    return Turn::kBack;
  return Turn::kStay;
}

}  // namespace

Turn acts::turn_screen(PageFrame& frame, int which) { return which > 0 ? next_screen(frame) : screen_before(frame); }

// A larger (+1) or smaller (−1) batch, if the page has one and no question is open.
void acts::change_batch(PageFrame& frame, int direction) {
  page::PageModel& page = frame.page;
  if (page.question().hides() || !page.settings().has(kMainSlider)) return;
  const auto& schema = page.settings().schema();
  const auto spec = std::ranges::find(schema, kMainSlider, &record::ParamSpec::key);
  const std::vector<double> stops = page::stops_of(*spec);
  const int now = page::nearest_stop(stops, page::number_of(*spec, page.settings()));
  const int to = std::clamp(now + direction, 0, static_cast<int>(stops.size()) - 1);
  (void)page.set_param(kMainSlider, page::typed_value(*spec, stops[static_cast<std::size_t>(to)]));
}

void draw_over_stage(const UiState& ui, const Rect& window) {
  using Blank = UiState::Blank;
  ImDrawList& over = *ImGui::GetForegroundDrawList();
  if (ui.blank != Blank::kNone) {
    over.AddRectFilled(upper_left(window), lower_right(window),
                       ui.blank == Blank::kBlack ? IM_COL32_BLACK : IM_COL32_WHITE);
    return;
  }
  if (!ui.spotlight) return;
  shade_around(over, ImGui::GetIO().MousePos, window.height() * 0.16f, window.width() + window.height());
}

}  // namespace headroom::app::window
