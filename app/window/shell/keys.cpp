// The keyboard.
#include "app/window/shell/keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/page/page_model.h"
#include "app/window/draw/controls.h"
#include "app/window/shell/stage.h"
#include "app/window/views/figure_card.h"
#include "app/window/views/question_view.h"
#include "app/window/views/text_column.h"
#include "app/window/widgets/widget.h"
#include "imgui_internal.h"  // SetKeyOwner

namespace headroom::app::window {

namespace {

struct KeyLine {
  std::string_view keys;  // separated by blanks
  std::string_view does;
};

constexpr std::array kAnywhere{
    KeyLine{"?", "these keys"},
    KeyLine{"Ctrl R", "run"},
    KeyLine{"Esc", "close, clear, cancel the run"},
    KeyLine{"Ctrl Z Y", "settings as before; again as after"},
    KeyLine{"F5 F11", "on stage; full screen"},
    KeyLine{"F", "the figure only; with words"},
    KeyLine{"G", "contents; a number and Enter jump"},
    KeyLine{"Ctrl E", "export this figure"},
    KeyLine{"Ctrl T", "next theme"},
    KeyLine{"Ctrl + −", "larger, smaller"},
    KeyLine{"Ctrl 0", "normal size"},
    KeyLine{"Tab", "next control; Enter presses it"},
    KeyLine{"← →", "move a slider"},
};
constexpr std::array kPage{
    KeyLine{"Space PgDn", "read on"},
    KeyLine{"PgUp", "back"},
    KeyLine{"Enter", "lock the answer"},
    KeyLine{"↑ ↓", "move the guess"},
    KeyLine{"1 … 9", "choose an answer; after it, turn a switch"},
    KeyLine{"X", "with and without that switch"},
    KeyLine{"V", "next figure of the page"},
    KeyLine{"T", "predicted or measured"},
    KeyLine{"C", "pin as run A; unpin it"},
};
constexpr std::array kTimeline{
    KeyLine{"W S", "zoom; so does the wheel"},
    KeyLine{"A D", "pan; so does a right drag"},
    KeyLine{"Home", "fit what is measured, else all"},
    KeyLine{", .", "previous, next change"},
    KeyLine{"Ctrl F", "find a kernel; Enter goes on, Shift Enter back"},
};
constexpr std::array kStage{
    KeyLine{"→ ← Space", "next screen, the one before"},
    KeyLine{"↑ ↓", "a larger batch, a smaller one"},
    KeyLine{"B W", "black, white; any key goes on"},
    KeyLine{"L", "spotlight at the mouse"},
};

constexpr int kDigits = 9;

bool chord(ImGuiKeyChord keys) { return ImGui::IsKeyChordPressed(keys); }
bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(key, false); }

bool typed_question_mark() {
  const ImVector<ImWchar>& typed = ImGui::GetIO().InputQueueCharacters;
  return std::find(typed.begin(), typed.end(), ImWchar('?')) != typed.end();
}

void take_scale_keys(UiState& ui) {
  if (chord(ImGuiMod_Ctrl | ImGuiKey_Equal) || chord(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Equal) ||
      chord(ImGuiMod_Ctrl | ImGuiKey_KeypadAdd))
    ui.font_scale = next_font_scale(ui.font_scale, +1);
  if (chord(ImGuiMod_Ctrl | ImGuiKey_Minus) || chord(ImGuiMod_Ctrl | ImGuiKey_KeypadSubtract))
    ui.font_scale = next_font_scale(ui.font_scale, -1);
  if (chord(ImGuiMod_Ctrl | ImGuiKey_0) || chord(ImGuiMod_Ctrl | ImGuiKey_Keypad0)) ui.font_scale = 1;
}

// One layer of what is open, at each press.
void peel(PageFrame& frame) {
  page::TimelineView& view = frame.page.view();
  if (frame.state.drawer)
    frame.state.drawer = false;
  else if (view.measure())
    view.set_measure(std::nullopt);
  else if (view.kernel())
    view.select(std::nullopt);
  else if (view.zoomed())
    view.fit_all();
  else if (frame.page.control().running())
    frame.page.cancel();
  else if (frame.ui.stage)
    frame.ui.stage = false;
  else if (frame.state.reading_more)
    leave_more(frame);
}

void show_figure_only(PageFrame& frame) {
  if (frame.faces && !frame.ui.stage)
    frame.state.figure_face = !frame.state.figure_face;
  else
    frame.ui.figure_only = !frame.ui.figure_only;
}

void move_guess(PageFrame& frame, int direction) {
  page::Question& question = frame.page.question();
  if (!question.hides()) return;
  const lessons::FigureData& asked = frame.page.figure(frame.figure.columns());
  const lessons::Axis* axis = lessons::guess_axis(asked);
  if (!asked.head.guess_open || axis == nullptr) return;  // another figure is looked at
  const double part = question.guess() ? lessons::part_of(*axis, *question.guess()) : 0;
  question.set_guess(lessons::value_at(*axis, std::max(part + direction * 0.01, 0.0)));
}

// One thing at a time: an open question has its answers, and nothing that would answer it.
void take_digit(PageFrame& frame, std::size_t index) {
  page::Question& question = frame.page.question();
  if (question.hides()) return question.choose(index);
  if (frame.page.climbs()) return frame.page.ladder().turn(index);
  const std::vector<const page::WayOut*> ways = frame.page.shown_ways();
  if (index < ways.size()) frame.page.turn(*ways[index]);
}

// The next page of the words, else what comes after them.
Turn go_on(PageFrame& frame) {
  PageState& state = frame.state;
  const bool narrow = frame.faces;
  if (state.words_below && !(narrow && state.figure_face))
    state.scroll_words = +1;
  else if (narrow && !state.figure_face)
    state.figure_face = true;
  else if (walk(frame, +1) || (narrow && !frame.place.has_next))
    state.figure_face = false;  // the words of the next step, or again of this page
  else if (!frame.page.question().hides())
    return Turn::kOn;
  return Turn::kStay;
}

Turn go_back(PageFrame& frame) {
  PageState& state = frame.state;
  const bool narrow = frame.faces;
  if (narrow && state.figure_face)
    state.figure_face = false;
  else if (state.words_above)
    state.scroll_words = -1;
  else if (!walk(frame, -1))
    return Turn::kBack;
  return Turn::kStay;
}

Turn take_page_keys(PageFrame& frame) {
  // Enter and Space press a control that has the keyboard's focus; elsewhere they belong to the page.
  const bool control_focused = ImGui::GetIO().NavVisible && ImGui::IsAnyItemFocused();
  if (!control_focused && (pressed(ImGuiKey_Enter) || pressed(ImGuiKey_KeypadEnter))) lock_answer(frame);
  if (pressed(ImGuiKey_T) && frame.widgets.run_button() && frame.page.has_predictions() &&
      !frame.page.question().hides())
    frame.page.show_prediction(!frame.page.shows_prediction());
  if (pressed(ImGuiKey_C)) frame.page.toggle_pin();
  if (pressed(ImGuiKey_V)) {
    const int figures = static_cast<int>(frame.page.page().figures.size());
    frame.page.show_tab((frame.page.tab() + 1) % std::max(1, figures));
  }
  for (int i = 0; i < kDigits; ++i)
    if (pressed(static_cast<ImGuiKey>(ImGuiKey_1 + i))) take_digit(frame, static_cast<std::size_t>(i));
  if (pressed(ImGuiKey_X)) frame.page.turn_last();
  if (!control_focused && frame.page.question().hides()) {
    if (owned_key(ImGuiKey_UpArrow)) move_guess(frame, +1);
    if (owned_key(ImGuiKey_DownArrow)) move_guess(frame, -1);
  }
  const bool back = owned_key(ImGuiKey_PageUp), on = owned_key(ImGuiKey_PageDown);
  if (back) return go_back(frame);
  if (on || (!control_focused && pressed(ImGuiKey_Space))) return go_on(frame);
  return Turn::kStay;
}

void draw_group(std::string_view head, std::span<const KeyLine> lines, Rect& column) {
  text_in(Face::kMedium, 12, column.cut_top(px(22)), theme().text3, head);
  for (const KeyLine& line : lines) {
    const Rect row = column.cut_top(px(28));
    float x = row.x0;
    std::string_view keys = line.keys;
    while (!keys.empty()) {
      const std::size_t end = keys.find(' ');
      keycap(x, row.center_y(), keys.substr(0, end));
      keys.remove_prefix(end == std::string_view::npos ? keys.size() : end + 1);
    }
    const float text_x = std::max(x + px(4), row.x0 + px(110));
    text_in(Face::kRegular, 13, {text_x, row.y0, row.x1, row.y1}, theme().text, line.does);
  }
  column.cut_top(px(12));
}

}  // namespace

float next_font_scale(float now, int direction) {
  constexpr std::array kScales{0.75f, 0.875f, 1.0f, 1.125f, 1.25f, 1.5f, 1.75f, 2.0f, 2.5f, 3.0f, 3.5f, 4.0f};
  if (direction > 0) {
    const auto above = std::find_if(kScales.begin(), kScales.end(), [now](float s) { return s > now + 0.01f; });
    return above == kScales.end() ? kScales.back() : *above;
  }
  const auto below = std::find_if(kScales.rbegin(), kScales.rend(), [now](float s) { return s < now - 0.01f; });
  return below == kScales.rend() ? kScales.front() : *below;
}

bool owned_key(ImGuiKey key) {
  const ImGuiID owner = ImGui::GetID("page keys");
  ImGui::SetKeyOwner(key, owner);
  return ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner);
}

Turn take_keys(PageFrame& frame) {
  take_scale_keys(frame.ui);
  if (chord(ImGuiMod_Ctrl | ImGuiKey_R) && frame.widgets.run_button()) start_run(frame);
  if (!ImGui::GetIO().WantTextInput) {
    if (chord(ImGuiMod_Ctrl | ImGuiKey_Z)) (void)frame.page.undo();
    if (chord(ImGuiMod_Ctrl | ImGuiKey_Y) || chord(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z))
      (void)frame.page.redo();
  }
  if (chord(ImGuiMod_Ctrl | ImGuiKey_E)) frame.ui.export_open = true;
  if (chord(ImGuiMod_Ctrl | ImGuiKey_F)) frame.figure.search();
  if (chord(ImGuiMod_Ctrl | ImGuiKey_T)) frame.ui.theme = next(frame.ui.theme);
  if (pressed(ImGuiKey_F5)) frame.ui.stage = !frame.ui.stage;
  if (pressed(ImGuiKey_F11)) frame.ui.full_screen = !frame.ui.full_screen;
  const ImGuiIO& io = ImGui::GetIO();
  // ImGui has closed a popup before the Escape that does so arrives here: it must do nothing else.
  const bool open = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  const bool popup = std::exchange(frame.ui.popup, open) || open;
  if (io.WantTextInput || popup || io.KeyCtrl) return Turn::kStay;
  if (typed_question_mark()) frame.ui.keys_open = true;
  if (pressed(ImGuiKey_Escape)) peel(frame);
  if (pressed(ImGuiKey_G)) frame.ui.contents_open = true;
  if (pressed(ImGuiKey_F)) show_figure_only(frame);
  if (frame.ui.stage)
    if (const auto turn = take_stage_keys(frame)) return *turn;
  if (frame.figure.take_keys(frame)) return Turn::kStay;
  return take_page_keys(frame);
}

void draw_keys(PageFrame& frame) {
  if (frame.ui.keys_open) ImGui::OpenPopup("keys page");
  frame.ui.keys_open = false;
  constexpr float kPadding = 24;
  const float screen = ImGui::GetMainViewport()->Size.x;
  const bool two = screen >= px(760);
  const float width = std::min(px(two ? 720 : 380), screen), inner = width - px(2 * kPadding);
  if (!begin_centered_popup("keys page", width, kPadding, 20)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Rect left{at.x, at.y, at.x + (two ? inner * 0.5f : inner), at.y + px(2000)};
  draw_group("Anywhere", kAnywhere, left);
  Rect right = two ? Rect{at.x + inner * 0.5f, at.y, at.x + inner, at.y + px(2000)} : left;
  draw_group("Page", kPage, right);
  draw_group("Timeline", kTimeline, right);
  draw_group("On stage", kStage, right);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({inner, std::max(left.y0, right.y0) - at.y - px(12)});
  end_popup();
}

}  // namespace headroom::app::window
