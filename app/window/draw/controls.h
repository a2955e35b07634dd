// The controls, once: every view uses these and nothing else. All of them are drawn here over ImGui's invisible
// buttons, so that hover, press, keyboard focus and tests work as usual.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/window/draw/draw.h"
#include "app/window/draw/icons.h"
#include "demos/record/units.h"

namespace headroom::app::window {

// What the mouse and keyboard do with a rectangle.
struct Hit {
  bool hovered = false;
  bool held = false;
  bool clicked = false;  // by mouse, or by Enter or Space when focused
  bool focused = false;  // by keyboard: draw the ring
};
Hit hit(const char* id, const Rect& rect, bool enabled = true);
void focus_ring(const Rect& rect, float radius);
// The next control that is drawn takes the keyboard's focus.
void focus_next();
bool take_focus();  // it is this one, which is a field

enum class ButtonKind : std::uint8_t { kPrimary, kSecondary, kGhost };
struct ButtonText {
  std::string_view label;  // may be empty: an icon alone, with a tooltip
  Icon icon = Icon::kNone;
  std::string_view keys{};  // hint inside, "Enter"
  std::string_view tooltip{};
};
float button_width(const ButtonText& text);
bool button(const char* id, const Rect& rect, const ButtonText& text, ButtonKind kind = ButtonKind::kSecondary,
            bool enabled = true);

// A pull-down. True when the choice changed. `refused`: why an option cannot be chosen (empty: it can), one for each, or
// none at all; such an option is drawn disabled with its reason, and a click on it still counts as a choice.
bool select(const char* id, const Rect& rect, std::span<const std::string> options, int& selected,
            Icon icon = Icon::kNone, std::span<const std::string> refused = {});
// Side by side, as wide as their words. True when the choice changed.
float segmented_width(std::span<const std::string> options);
bool segmented(const char* id, const Rect& rect, std::span<const std::string> options, int& selected,
               std::span<const std::string> refused = {});
// Side by side, each on or off. The index of the one that was clicked; −1: none.
struct Toggle {
  std::string_view label;
  Icon icon = Icon::kNone;
  bool on = false;
  std::string_view tooltip{};
  std::string_view fixed{};  // why it cannot be clicked; empty: it can
};
float toggles_width(std::span<const Toggle> all, bool with_labels);
int toggles(const char* id, const Rect& rect, std::span<const Toggle> all, bool with_labels);
// A sign on a slider's track, at 0 … 1 along it.
struct SliderMark {
  enum class Kind : std::uint8_t { kTick, kGood, kBad } kind = Kind::kTick;
  float at = 0;
};
// `position` is 0 … 1. `steps`: number of values, for the arrow keys; 0: a hundredth. From `hatched_from` on (the same
// scale; 2: nowhere) what is set does not fit. True while it changes.
bool slider(const char* id, const Rect& rect, float& position, int steps, float hatched_from = 2,
            std::span<const SliderMark> marks = {});
// One line of text in a frame; the unit is at its right end. True when Enter was pressed or the field left.
bool text_field(const char* id, const Rect& rect, std::string& text, std::string_view unit, bool focus_now = false,
                std::string_view hint = {});

void keycap(float& x, float center_y, std::string_view key);
void progress_bar(const Rect& rect, float fraction);
// Formula, predicted, recorded, live: shape, border, icon and word. Returns the right edge.
float source_badge(float x, float center_y, record::Source source);
float source_badge_width(record::Source source);

enum class CalloutKind : std::uint8_t { kNote, kTrouble, kOutOfMemory };
// Returns its bottom. draw = false: measures only.
float callout(const Rect& at, CalloutKind kind, std::string_view head, std::string_view body, bool draw = true);
// A dashed frame that says what is there instead. True when its button (if any) is pressed.
bool empty_state(const Rect& rect, std::string_view head, std::string_view body, std::string_view action);

// At the mouse, kept inside the window.
void tooltip(std::string_view text);

// Popups share one look. end_popup() only after one of these was true. Paddings are px at scale 1.
bool begin_popup(const char* id, const Rect& place, float padding);
bool begin_centered_popup(const char* id, float width, float padding_x, float padding_y);  // as high as its content
void end_popup();
// The place of a popup of this size: below its control, above it where there is no room, and always inside the window,
// cut to its height if need be (it then scrolls).
Rect popup_place(const Rect& anchor, ImVec2 size);

}  // namespace headroom::app::window
