// The ladder's rungs.
#include "app/window/widgets/ladder.h"

#include <algorithm>
#include <utility>

#include "app/common/ladder.h"
#include "app/page/page_model.h"
#include "demos/experiments/strategies.h"
#include "lessons/sweep.h"
#include "lessons/wording.h"

namespace headroom::app::window {

namespace {

constexpr float kLeastRoom = 560;  // narrow pages: below this the figure has all of it
constexpr float kWidth = 236, kWideWidth = 280, kGap = 20;
constexpr float kHead = 24, kRow = 27, kWideRow = 36, kFoot = 64;

constexpr SweepWords kWords{.run = "Run the ladder",
                            .does = "Runs each rung on this machine, from the top",
                            .point = "Rung",
                            .stored = "the stored ladder"};

}  // namespace

LadderView::LadderView(const WidgetHost& host) : page_(host.page), sweep_(host.engines, host.page) {
  for (const experiments::LadderSwitch& each : experiments::ladder_switches()) order_.emplace_back(each.id);
}

std::string_view LadderView::empty_reason() const {
  return "No ladder is stored for this page. \"Run the ladder\" climbs one on this machine.";
}

void LadderView::move(std::size_t from, std::size_t to) {
  if (from >= order_.size() || to >= order_.size() || from == to) return;
  std::string taken = std::move(order_[from]);
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(from));
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(to), std::move(taken));
}

record::Params LadderView::base() const {
  record::Params params = naive_settings();
  for (const record::ParamSpec& spec : params.schema())
    if (spec.role != record::ParamRole::kTechnique)  // the ladder switches these itself
      (void)params.set(spec.key, std::string_view(page_.control().params().as_text(spec.key)));
  return params;
}

std::string LadderView::why_not(std::size_t rung) const {
  const auto plan = plan_ladder(base(), order_);
  if (!plan || rung + 1 >= plan.value().points.size()) return {};
  return lessons::conflict_in_words(plan.value().points[rung + 1].params);
}

void LadderView::draw_rung(const DragOrder::Row& row) const {
  const std::string refused = why_not(row.place), name = experiments::ladder_label(order_[row.place]);
  const Rect words{row.words.x0, row.words.y0, row.words.x1 - px(22), row.words.y1};
  text_in(Face::kMedium, 13, words, refused.empty() ? theme().text : theme().disabled,
          shortened(Face::kMedium, 13, name, words.width()));
  if (!refused.empty()) draw_icon(Icon::kWarning, row.words.x1 - px(10), words.center_y(), theme().text2, 14);
  if (row.tip)
    tooltip(refused.empty() ? "Drag it up or down; with the keyboard, Alt and the arrow keys"
                            : refused + " The rungs below go on without it.");
}

void LadderView::draw(PageFrame& frame, Rect& rect) {
  if (frame.density == Density::kNarrow && rect.width() <= px(kLeastRoom)) return;
  const bool wide = frame.density == Density::kWide;
  Rect column = rect.cut_left(px(wide ? kWideWidth : kWidth));
  rect.cut_left(px(kGap));
  vertical_line(rect.x0 - px(kGap * 0.5f), rect.y0, rect.y1, theme().hairline);
  text_in(Face::kSemiBold, 13, column.cut_top(px(kHead)), theme().text, "Switched on, one after the other");
  Rect foot = column.cut_bottom(px(kFoot));
  const float room = column.height() / static_cast<float>(order_.size() + 1);
  const float height = std::min(px(wide ? kWideRow : kRow), room);
  const Rect first = column.cut_top(height);
  text_in(Face::kMedium, 13, {first.x0 + px(24), first.y0, first.x1, first.y1 - px(2)}, theme().text2,
          "naive: plain fp32");
  std::vector<std::string> ids;
  for (const std::string& id : order_) ids.push_back("rung " + id);
  const auto moved =
      list_.draw(column, ids, height, !sweep_.running(), [this](const DragOrder::Row& row) { draw_rung(row); });
  if (moved) move(moved->from, moved->to);
  foot.cut_top(px(8));
  if (sweep_.draw(frame, foot, kWords)) sweep_.start(plan_ladder(base(), order_));
}

extern const Widget kLadderWidget;
constinit const Widget kLadderWidget{
    "ladder", [](const WidgetHost& host) -> std::unique_ptr<WidgetView> { return std::make_unique<LadderView>(host); }};

}  // namespace headroom::app::window
