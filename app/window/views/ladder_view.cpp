// The ladder's rungs.
#include "app/window/views/ladder_view.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "app/common/ladder.h"
#include "app/page/page_model.h"
#include "lessons/sweep.h"
#include "lessons/wording.h"

namespace headroom::app::window {

namespace {

constexpr float kWidth = 236, kWideWidth = 280, kGap = 20;
constexpr float kHead = 24, kRow = 27, kWideRow = 36, kFoot = 64;

constexpr SweepWords kWords{.run = "Run the ladder",
                            .does = "Runs each rung on this machine, from the top",
                            .point = "Rung",
                            .stored = "the stored ladder"};

// Of the reader's settings those that a ladder does not switch itself.
constexpr std::array kKept{"model",      "batch",     "seq",           "device",   "cap",
                           "steps",      "seed",      "learning_rate", "data",     "hidden_size",
                           "num_layers", "num_heads", "num_kv_heads",  "head_dim", "intermediate_size",
                           "vocab_size"};

// Two lines of three dots: take hold here.
void draw_grip(float x, float y, ImU32 color) {
  for (int row = -1; row <= 1; ++row)
    for (int column = 0; column <= 1; ++column)
      canvas()->AddCircleFilled({x + px(5) * static_cast<float>(column), y + px(5) * static_cast<float>(row)}, px(1.3f),
                                color);
}

}  // namespace

LadderView::LadderView(SweepRun& sweep) : sweep_(sweep) {
  for (const LadderSwitch& each : ladder_switches()) order_.emplace_back(each.id);
}

bool LadderView::serves(const page::PageModel& page) { return page.page().id == "ladder"; }

void LadderView::move(std::size_t from, std::size_t to) {
  if (from >= order_.size() || to >= order_.size() || from == to) return;
  std::string taken = std::move(order_[from]);
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(from));
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(to), std::move(taken));
}

record::Params LadderView::base(const page::PageModel& page) const {
  record::Params params = naive_settings(page.control().demo());
  for (const char* key : kKept)
    if (params.has(key)) (void)params.set(key, std::string_view(page.control().params().as_text(key)));
  return params;
}

std::string LadderView::why_not(const page::PageModel& page, std::size_t rung) const {
  const auto plan = plan_ladder(base(page), order_);
  if (!plan || rung + 1 >= plan.value().points.size()) return {};
  return lessons::conflict_in_words(plan.value().points[rung + 1].params);
}

void LadderView::draw_rung(PageFrame& frame, std::size_t rung, const Rect& row) {
  const std::string& id = order_[rung];
  const std::string name = lessons::ladder_label(id), refused = why_not(frame.page, rung);
  const bool running = sweep_.runs_for(frame.page);
  const Hit state = hit(("rung " + id).c_str(), row, !running);
  const bool dragged = held_ == rung;
  if (dragged || state.hovered) fill(row, dragged ? theme().active : theme().hover, 6);
  if (state.focused) focus_ring(row, 6);
  draw_grip(row.x0 + px(8), row.center_y(), running ? theme().disabled : theme().text3);
  const Rect words{row.x0 + px(24), row.y0, row.x1 - px(22), row.y1};
  text_in(Face::kMedium, 13, words, refused.empty() ? theme().text : theme().disabled,
          shortened(Face::kMedium, 13, name, words.width()));
  if (!refused.empty()) draw_icon(Icon::kWarning, row.x1 - px(10), row.center_y(), theme().text2, 14);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip) && !held_)
    tooltip(refused.empty() ? "Drag it up or down; with the keyboard, Alt and the arrow keys"
                            : refused + " The rungs below go on without it.");
  if (state.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) held_ = rung;
  const bool alt = ImGui::GetIO().KeyAlt && ImGui::IsItemFocused();
  if (alt && ImGui::IsKeyPressed(ImGuiKey_UpArrow) && rung > 0)
    move(rung, rung - 1);
  else if (alt && ImGui::IsKeyPressed(ImGuiKey_DownArrow))
    move(rung, rung + 1);
}

void LadderView::draw(PageFrame& frame, Rect& rect) {
  const bool wide = frame.width == Width::kWide;
  Rect column = rect.cut_left(px(wide ? kWideWidth : kWidth));
  rect.cut_left(px(kGap));
  vertical_line(rect.x0 - px(kGap * 0.5f), rect.y0, rect.y1, theme().hairline);
  text_in(Face::kSemiBold, 13, column.cut_top(px(kHead)), theme().text, "Switched on, one after the other");
  Rect foot = column.cut_bottom(px(kFoot));
  const float room = column.height() / static_cast<float>(order_.size() + 1);
  const float height = std::min(px(wide ? kWideRow : kRow), room);
  const auto row_at = [&](std::size_t place) {
    const float y = column.y0 + height * static_cast<float>(place);
    return Rect{column.x0, y, column.x1, y + height - px(2)};
  };
  const Rect first = row_at(0);
  text_in(Face::kMedium, 13, {first.x0 + px(24), first.y0, first.x1, first.y1}, theme().text2, "naive: plain fp32");
  if (held_ && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) held_.reset();
  for (std::size_t i = 0; i < order_.size(); ++i) draw_rung(frame, i, row_at(i + 1));
  if (held_) {
    const auto place = static_cast<std::ptrdiff_t>((ImGui::GetIO().MousePos.y - column.y0) / height) - 1;
    const auto to = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, std::ssize(order_) - 1));
    if (to != *held_) {
      move(*held_, to);
      held_ = to;
    }
  }
  foot.cut_top(px(8));
  if (sweep_.draw(frame, foot, kWords)) sweep_.start(frame.page, plan_ladder(base(frame.page), order_));
}

}  // namespace headroom::app::window
