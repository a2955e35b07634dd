// Parts of the verdict that the strip below a figure and the bench share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/page/page_model.h"
#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"
#include "lessons/shown_unit.h"

namespace headroom::app::window {

// One decimal: "32.0", "−12.8".
struct PeakUnit : lessons::ShownUnit {
  std::string number(record::Bytes of) const { return lessons::in_unit(static_cast<double>(of), *this, 1); }
  std::string change(record::Bytes of) const { return (of < 0 ? "−" : "+") + number(of < 0 ? -of : of); }
};
// The figure's unit, or else one that suits the peak.
PeakUnit peak_unit(const PageFrame& frame, record::Bytes peak);

// "does not fit by 8.0 GiB"
std::string verdict_words(const StepPlan& plan, const PeakUnit& unit);
// Uses the danger color if the step does not fit; `current` false: the verdict is of earlier settings. Returns the right
// edge.
float draw_pill(float x, float center_y, predict::Verdict verdict, const std::string& words, bool current);
// "measured 13.1, as predicted to the byte", "measured 13.2, 0.4 % more"; empty without a run.
std::string measured_words(record::Bytes predicted, record::Bytes measured, const PeakUnit& unit);
// "of tensors", "; the allocator reserves 22.8", ", the process takes 0.7 more (as on H200)"
std::vector<std::string> parts_words(const StepPlan& plan, const PeakUnit& unit);
// "fits up to batch 3, or 3,419 tokens", "fits up to batch 3; tried: 3 ran". `wrong`: a run contradicts the prediction.
struct Largest {
  std::string words;
  bool wrong = false;
};
Largest largest_words(PageFrame& frame, const StepPlan& plan);
// The badge of a closed form, which explains itself in a tooltip. Returns the right edge.
float draw_formula_badge(float x, const Rect& row, const std::string& why);
// Runs the largest batch predicted to fit, then the next larger one. Returns the left edge.
float draw_try(PageFrame& frame, const Rect& row);

// A technique as a switch, with its effect on the peak.
inline constexpr float kChip = 26, kChipGap = 6;  // px at scale 1
struct Chip {
  const page::WayOut* way = nullptr;
  std::string change;
  float width = 0;
};
// `clicked`: the mouse button was released on the chip.
struct Pressed {
  const page::WayOut* clicked = nullptr;
  const page::WayOut* held = nullptr;
};
// Chips stay in place while the mouse is in `rect`.
std::vector<Chip> chips_on(PageFrame& frame, const Rect& rect, const PeakUnit& unit, bool fits_now);
// `change_at_end`: the change is at the right end, for chips in a column.
void draw_chip(const Chip& chip, const Rect& at, bool fits_now, Pressed& pressed, bool change_at_end = false);
// A short press turns the switch. A long press shows the figure with the switch turned, until released.
void take_press(PageFrame& frame, const Pressed& pressed);

// The sets of switches that make the step fit, at ImGui's cursor; a click turns one on.
void draw_make_fit(PageFrame& frame, float width);

}  // namespace headroom::app::window
