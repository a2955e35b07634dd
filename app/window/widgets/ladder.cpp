// The ladder's rungs.
#include "app/window/widgets/ladder.h"

#include <algorithm>
#include <string>
#include <vector>

#include "app/page/page_facts.h"
#include "app/window/views/figure_card.h"
#include "demos/experiments/technique_table.h"

namespace headroom::app::window {

namespace {

constexpr float kLeastLadder = 268;  // px; in lower cards the rungs take all the height
constexpr float kFoot = 32, kRunWidth = 184, kSwitchWidth = 40, kUseWidth = 26;

void draw_switch(const Rect& at, bool on, bool hovered) {
  const float half = std::min(px(8), at.height() / 2 - px(2));  // low rows get low switches with a gap
  const Rect track{at.center_x() - px(13), at.center_y() - half, at.center_x() + px(13), at.center_y() + half};
  if (on)
    fill(track, hovered ? theme().state.ink_hover : theme().ink, 8);
  else
    outline(track, theme().control, 8, 1);
  const float x = on ? track.x1 - half : track.x0 + half;
  disc({x, track.center_y()}, half - px(3), on ? theme().on_ink : theme().control);
}

}  // namespace

// The chip can be dragged by its grip or switched off.
void LadderView::draw_rung(const DragOrder::Row& row) const {
  const page::Ladder::Switch& each = page_.ladder().switches()[row.place];
  const std::string refused = page_.ladder().why_not(row.place), name = experiments::ladder_label(each.id);
  const bool enters = each.on && refused.empty();
  const Rect words{row.words.x0, row.words.y0, row.words.x1 - px(refused.empty() ? 4 : 22), row.words.y1};
  text_fit(Face::kMedium, 13, words, enters ? theme().text : theme().text3, name);
  if (!refused.empty()) draw_icon(Icon::kWarning, row.words.x1 - px(10), words.center_y(), theme().text2, 14);
  if (row.tip)
    tooltip(refused.empty() ? name + ". Drag it up or down; with the keyboard, Alt and the arrow keys"
                            : refused + " The rungs below skip it.");
}

bool LadderView::poll() {
  const bool changed = sweep_.poll();
  page_.ladder().note_running(sweep_.run());
  return changed;
}

// A button that sets the page to the switches from the top to this rung.
void LadderView::draw_use(PageFrame& frame, std::size_t place, const Rect& at) {
  const std::string& id = page_.ladder().switches()[place].id;
  const std::optional<record::Params> settings = page_.ladder().settings_to(place);
  const bool set = settings == page_.settings();
  const std::string_view tip = set        ? "The page's settings have these switches"
                               : settings ? "Use up to here: set the page to the switches from the top to this one"
                                          : "This rung is off or cannot be combined with those above it";
  if (!button(("use " + id).c_str(), at, {"", Icon::kLayers, "", tip}, ButtonKind::kGhost, settings && !set)) return;
  page_.adopt(*settings);
  frame.ui.say_in_passing("Switches up to " + experiments::ladder_label(id) + " set · Ctrl Z undoes", frame.now);
}

void LadderView::draw(PageFrame& frame, Rect& rect) {
  if (!page_.figures().draws_ladder() || rect.height() < px(kLeastLadder)) return;
  rect.y1 -= px(2);
  Rect foot = rect.cut_bottom(px(kFoot));
  rect.cut_bottom(px(6));
  const bool elsewhere = !page::runs_here(page_);
  const SweepWords words{.run = elsewhere ? "Run a tiny ladder here" : "Run the ladder",
                         .does = elsewhere ? "This machine has no GPU: runs each rung with the page's small model"
                                           : "Runs each rung that is on, from the top",
                         .point = "Rung",
                         .stored = "the stored ladder"};
  const bool no_engine = !page::why_no_engine(page_).empty();
  if (sweep_.draw(frame, foot.cut_left(no_engine ? foot.width() * 0.5f : px(kRunWidth)), words)) {
    if (elsewhere) page_.adopt(page::settings_here(page_));
    sweep_.start(page_.ladder().plan());
  }
  foot.cut_left(px(12));
  const std::string& formula = page_.ladder().why_formula();
  const std::string said = sweep_.running()  ? sweep_.progress_words(words, frame.now)
                           : formula.empty() ? "Drag a rung to another place, or switch it off."
                                             : "By the closed form: " + formula;
  text_fit(Face::kRegular, 12, foot, theme().text2, said);
}

// Draws the names, which the figure's rows omit, as chips.
void LadderView::draw_over(PageFrame& frame, const Rect& picture) {
  const auto& names = frame.figure.scene().rungs;
  if (!page_.figures().draws_ladder() || !names) return;
  page::Ladder& ladder = page_.ladder();
  const auto rungs = static_cast<float>(ladder.switches().size() + 1);
  const float height = names->height() / rungs;
  Rect column = names->moved({picture.x0, picture.y0});
  const Rect first = column.cut_top(height);
  text_in(Face::kMedium, 13, {first.x0 + px(24), first.y0, first.x1, first.y1}, theme().text2,
          shortened(Face::kMedium, 13, "naive: plain fp32", first.width() - px(24)));
  const Rect turns = column.cut_right(px(kSwitchWidth)), uses = column.cut_right(px(kUseWidth));
  std::vector<std::string> ids;
  for (const page::Ladder::Switch& each : ladder.switches()) ids.push_back("rung " + each.id);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const float y = column.y0 + height * static_cast<float>(i);
    outline({column.x0, y + px(1), turns.x1, y + height - px(1)}, theme().hairline, 6);
  }
  const auto moved =
      list_.draw(column, ids, height, !sweep_.running(), [this](const DragOrder::Row& row) { draw_rung(row); });
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const page::Ladder::Switch each = ladder.switches()[i];
    const float y = turns.y0 + height * static_cast<float>(i);
    const Rect at{turns.x0, y, turns.x1, y + height - px(2)};
    const Hit state = hit(("turn " + each.id).c_str(), at, !sweep_.running());
    draw_switch(at, each.on, state.hovered);
    if (state.focused) focus_ring(at, 6);
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) tooltip(each.on ? "Skip this rung" : "Include this rung");
    if (state.clicked) ladder.turn(i);
    if (!sweep_.running()) draw_use(frame, i, {uses.x0, at.y0, uses.x1, at.y1});
  }
  if (moved) ladder.move(moved->from, moved->to);
}

constinit const Widget kLadderWidget{&lessons::kLadderWidget, Slot::kBesideFigure, make_view<LadderView>};

}  // namespace headroom::app::window
