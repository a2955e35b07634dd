// The only controls that views use, drawn over ImGui's invisible buttons, so that hover, press, keyboard focus and
// tests work as usual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/window/draw/draw.h"
#include "app/window/draw/icons.h"
#include "demos/record/units.h"

namespace headroom::app::window {

struct Hit {
  bool hovered = false;
  bool held = false;
  bool clicked = false;  // also by Enter or Space when focused
  bool focused = false;  // by keyboard; the ring is drawn
};
Hit hit(const char* id, const Rect& rect, bool enabled = true);
void focus_ring(const Rect& rect, float radius);
// Gives keyboard focus to the next control.
void focus_next();
bool take_focus();

enum class ButtonKind : std::uint8_t { kPrimary, kSecondary, kGhost };
struct ButtonText {
  std::string_view label;  // empty: an icon with a tooltip
  Icon icon = Icon::kNone;
  std::string_view keys{};  // shown inside: "Enter"
  std::string_view tooltip{};
};
float button_width(const ButtonText& text);
bool button(const char* id, const Rect& rect, const ButtonText& text, ButtonKind kind = ButtonKind::kSecondary,
            bool enabled = true);

// A pull-down. True if the choice changed. `refused` has a reason per option (empty if allowed), or is empty. Refused
// options are drawn disabled, but can be chosen. `label` stands before the value.
constexpr float kLabelGap = 6;  // px at scale 1, between label and value
bool select(const char* id, const Rect& rect, std::span<const std::string> options, int& selected,
            Icon icon = Icon::kNone, std::span<const std::string> refused = {}, std::string_view label = {});
// Options side by side, as wide as their words. True if the choice changed.
float segmented_width(std::span<const std::string> options);
bool segmented(const char* id, const Rect& rect, std::span<const std::string> options, int& selected,
               std::span<const std::string> refused = {});
// toggles() returns the clicked switch's index, or −1.
struct Toggle {
  std::string_view label;
  Icon icon = Icon::kNone;
  bool on = false;
  std::string_view tooltip{};
  std::string_view fixed{};  // why it cannot be clicked; empty: it can
};
float toggles_width(std::span<const Toggle> all, bool with_labels);
int toggles(const char* id, const Rect& rect, std::span<const Toggle> all, bool with_labels);
// A mark on a slider's track; `at`: 0 … 1.
struct SliderMark {
  enum class Kind : std::uint8_t { kTick, kGood, kBad } kind = Kind::kTick;
  float at = 0;
};
// `position` is 0 … 1. The arrow keys move by one of `steps` values, or by a hundredth if `steps` is 0. Positions from
// `hatched_from` on (2: none) do not fit. True while it changes.
bool slider(const char* id, const Rect& rect, float& position, int steps, float hatched_from = 2,
            std::span<const SliderMark> marks = {});
bool enter_pressed();  // either Enter key
// True on Enter, or when the field is left after an edit.
bool text_field(const char* id, const Rect& rect, std::string& text, std::string_view unit, bool focus_now = false,
                std::string_view hint = {});

// Rows can be dragged, or moved with Alt and the arrow keys.
class DragOrder {
 public:
  struct Move {
    std::size_t from = 0, to = 0;
  };
  struct Row {
    std::size_t place = 0;
    Rect words;        // right of the grip
    bool tip = false;  // the mouse rests on the row: show a tooltip
  };

  // Draws each row's ground, grip and focus ring; `draw_row` adds the rest. `height`: device px per row. The caller
  // applies the returned move.
  std::optional<Move> draw(const Rect& column, std::span<const std::string> ids, float height, bool enabled,
                           const std::function<void(const Row&)>& draw_row);

 private:
  std::optional<std::size_t> held_;
};

void keycap(float& x, float center_y, std::string_view key);
void progress_bar(const Rect& rect, float fraction);
// Returns the right edge.
float source_badge(float x, float center_y, record::Source source);
float source_badge_width(record::Source source);

enum class CalloutKind : std::uint8_t { kNote, kTrouble, kOutOfMemory };
// Returns the bottom. draw = false only measures.
float callout(const Rect& at, CalloutKind kind, std::string_view head, std::string_view body, bool draw = true);
// True if the button is pressed.
bool empty_state(const Rect& rect, std::string_view head, std::string_view body, std::string_view action);

void tooltip(std::string_view text);

// Call end_popup() only if one of these two functions returned true. Paddings are px at scale 1.
bool begin_popup(const char* id, const Rect& place, float padding);
bool begin_centered_popup(const char* id, float width, float padding_x, float padding_y);  // as high as its content
void end_popup();
// A place below the control, or above it if there is no room, cut to the window's height; the popup then scrolls.
Rect popup_place(const Rect& anchor, ImVec2 size);

}  // namespace headroom::app::window
