// Actions of keys and of the finder's commands.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/page/settings/param_scale.h"
#include "app/window/shell/keys.h"
#include "app/window/views/figure_card.h"
#include "app/window/views/views.h"
#include "app/window/widgets/widget.h"
#include "demos/experiments/technique_table.h"

namespace headroom::app::window::acts {

namespace {

constexpr double kZoom = 0.7, kPan = 0.15;  // shares of the visible range

// `direction`: +1 or −1.
float next_font_scale(float now, int direction) {
  constexpr std::array kScales{0.75f, 0.875f, 1.0f, 1.125f, 1.25f, 1.5f, 1.75f, 2.0f, 2.5f, 3.0f, 3.5f, 4.0f};
  if (direction > 0) {
    const auto above = std::find_if(kScales.begin(), kScales.end(), [now](float s) { return s > now + 0.01f; });
    return above == kScales.end() ? kScales.back() : *above;
  }
  const auto below = std::find_if(kScales.rbegin(), kScales.rend(), [now](float s) { return s < now - 0.01f; });
  return below == kScales.rend() ? kScales.front() : *below;
}

constexpr std::string_view kMainSlider = "batch";

// Reveals the answer to an open question, with or without a guess; then come the steps and the next page.
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

constexpr double kSwitchSaid = 2;  // seconds

void turn_rung(PageFrame& frame, std::size_t index) {
  page::Ladder& ladder = frame.page.ladder();
  if (index >= ladder.switches().size()) return;
  ladder.turn(index);
  const page::Ladder::Switch& turned = ladder.switches()[index];
  frame.ui.say_in_passing(
      fmt::format("{}: {} {}", index + 1, experiments::ladder_label(turned.id), turned.on ? "on" : "off"), frame.now,
      kSwitchSaid);
}

void turn_way(PageFrame& frame, std::size_t index) {
  const std::vector<const page::WayOut*> ways = frame.page.verdict().shown_ways();
  if (index >= ways.size()) return;
  const std::string said =
      fmt::format("{}: {} {} · Ctrl Z undoes", index + 1, ways[index]->what->button(), ways[index]->on ? "off" : "on");
  page::turn(frame.page, *ways[index]);
  frame.ui.say_in_passing(said, frame.now, kSwitchSaid);
}

}  // namespace

void show_keys(PageFrame& frame, int) { frame.ui.open.keys = true; }

void run(PageFrame& frame, int) {
  if (frame.widgets.run_button()) start_run(frame);
}

// Closes one layer per press.
void peel(PageFrame& frame, int) {
  page::TimelineView& view = frame.page.figures().view();
  if (frame.state.drawer)
    frame.state.drawer = false;
  else if (view.measure())
    view.set_measure(std::nullopt);
  else if (view.kernel())
    view.select(std::nullopt);
  else if (view.zoomed())
    view.fit_all();
  else if (frame.page.control().running())
    frame.page.control().cancel();
  else if (frame.ui.stage)
    frame.ui.stage = false;
  else if (frame.state.reading_more)
    leave_more(frame);
}

void undo_or_redo(PageFrame& frame, int which) {
  if (ImGui::GetIO().WantTextInput) return;  // the text field has its own undo
  (void)frame.page.undo(which == 0 ? -1 : +1);
}

void change_screen(PageFrame& frame, int which) {
  bool& on = which == 0 ? frame.ui.stage : frame.ui.full_screen;
  on = !on;
}

void show_figure_only(PageFrame& frame, int) {
  bool& on = frame.faces && !frame.ui.stage ? frame.state.figure_face : frame.ui.figure_only;
  on = !on;
}

void show_contents(PageFrame& frame, int) { frame.ui.open.contents = true; }

void show_glossary(PageFrame& frame, int) {
  frame.ui.glossary_term.clear();
  frame.ui.open.glossary = true;
}

Turn go_where_i_was(PageFrame&, int which) { return which < 0 ? Turn::kEarlier : Turn::kLater; }

void show_export(PageFrame& frame, int) { frame.ui.open.exports = true; }

void change_scale(PageFrame& frame, int which) {
  frame.ui.font_scale = which == 0 ? 1 : next_font_scale(frame.ui.font_scale, which);
}

Turn go_on(PageFrame& frame, int) {
  PageState& state = frame.state;
  const bool narrow = frame.faces;
  if (state.words.below && !(narrow && state.figure_face))
    state.words.scroll = +1;
  else if (narrow && !state.figure_face)
    state.figure_face = true;
  else if (walk(frame, +1) || (narrow && !frame.place.has_next))
    state.figure_face = false;  // turns to the words: the next step's, or this page's again
  else if (!frame.page.question().hides())
    return Turn::kOn;
  return Turn::kStay;
}

Turn go_back(PageFrame& frame, int) {
  PageState& state = frame.state;
  const bool narrow = frame.faces;
  if (narrow && state.figure_face)
    state.figure_face = false;
  else if (state.words.above)
    state.words.scroll = -1;
  else if (!walk(frame, -1))
    return Turn::kBack;
  return Turn::kStay;
}

void lock(PageFrame& frame, int) { lock_answer(frame); }

void move_guess(PageFrame& frame, int which) {
  page::Question& question = frame.page.question();
  const lessons::FigureData& asked = frame.page.figure(frame.figure.columns());
  const lessons::Axis* axis = lessons::guess_axis(asked);
  if (!asked.head.guess_open || axis == nullptr) return;  // another figure is shown
  const double part = question.guess() ? lessons::part_of(*axis, *question.guess()) : 0;
  question.set_guess(lessons::value_at(*axis, std::max(part + which * 0.01, 0.0)));
}

// Digits answer an open question. Only afterwards do they turn switches, which could give the answer away.
void take_digit(PageFrame& frame, int which) {
  const auto index = static_cast<std::size_t>(which);
  page::Question& question = frame.page.question();
  if (question.hides())
    question.choose(index);
  else if (frame.page.figures().draws_ladder())
    turn_rung(frame, index);
  else
    turn_way(frame, index);
}

void show_next_figure(PageFrame& frame, int) {
  const int figures = static_cast<int>(frame.page.page().figures.size());
  frame.page.show_tab((frame.page.figures().tab() + 1) % std::max(1, figures));
}

void pin(PageFrame& frame, int) { page::toggle_pin(frame.page); }

void zoom(PageFrame& frame, int which) {
  page::TimelineView& view = frame.page.figures().view();
  const page::TimelineView::Range now = view.visible();
  const auto cursor = view.cursor();
  const bool seen = cursor && *cursor > now.begin && *cursor < now.end;
  view.zoom(seen ? *cursor : (now.begin + now.end) / 2, which > 0 ? kZoom : 1 / kZoom);
}

void pan(PageFrame& frame, int which) {
  frame.page.figures().view().pan(which * frame.page.figures().view().visible().length() * kPan);
}

// Steps through changes, or through frames of a figure that plays.
void step(PageFrame& frame, int which) {
  page::PageModel& page = frame.page;
  if (page.figures().frames() > 1) {
    page.figures().play(false, frame.now);
    page.figures().show_frame(which > 0 ? page.figures().frame() + 1
                                        : std::max<std::size_t>(page.figures().frame(), 2) - 1);
  } else if (frame.state.timeline_focus) {
    page.figures().step_cursor(which);
  }
}

Turn turn_screen(PageFrame& frame, int which) { return which > 0 ? next_screen(frame) : screen_before(frame); }

// Does nothing without a batch or with an open question.
void change_batch(PageFrame& frame, int direction) {
  page::PageModel& page = frame.page;
  if (page.question().hides() || !page.settings().has(kMainSlider)) return;
  const record::ParamSpec* const spec = record::find_spec(page.settings().schema(), kMainSlider);
  const std::vector<double> stops = page::stops_of(*spec);
  const int now = page::nearest_stop(stops, page::number_of(*spec, page.settings()));
  const int to = std::clamp(now + direction, 0, static_cast<int>(stops.size()) - 1);
  (void)page.set_param(kMainSlider, page::typed_value(*spec, stops[static_cast<std::size_t>(to)]));
}

}  // namespace headroom::app::window::acts
