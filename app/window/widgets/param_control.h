// Controls for parameters of the page or its figure: a choice, switch, field, or slider with its value. The column with
// Run is next to them.
#pragma once

#include <string>
#include <string_view>

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"
#include "demos/record/schema.h"

namespace headroom::app::window {

constexpr float kLabelHeight = 20;  // px at scale 1, above the control

enum class ParamsOf : unsigned char { kPage, kFigure };
// Control names differ even if page and figure have the same key.
std::string name_of(ParamsOf of, std::string_view key);
// True if the finder leads to this parameter: its control is shown with the focus.
bool is_sought(const PageState& state, ParamsOf of, const record::ParamSpec& spec);

constexpr float kCellHeight = 52, kCellGap = 12;  // label with control; gap between rows

// Includes the gap before the column; the sweep's controls take the lower half.
constexpr float run_column_width(Density density) { return density == Density::kWide ? 196 : 150; }
constexpr float run_column_gap(Density density) { return density == Density::kWide ? 28 : 16; }
// Narrow pages: the sweep's part of the line.
constexpr float kNarrowSweep = 128;

void draw_label(const record::ParamSpec& spec, const Rect& rect);

// Typed digits open the value of the slider that takes them. Call once per frame, before the controls are drawn.
void type_digits(SettingsState& settings);

// Fixed settings are text.
void draw_param(PageFrame& frame, ParamsOf of, const record::ParamSpec& spec, Rect cell);

void draw_run(PageFrame& frame, Rect rect, bool with_pin = true);
// The same on one line, at its right end; takes its part of `row`.
void draw_run_line(PageFrame& frame, Rect& row);
// Says why nothing can run and what to do, as far as it fits; a tooltip has all of it.
void draw_no_engine(const PageFrame& frame, Rect rect, std::string_view head = "No engine. ");
// Makes the current run A, to compare later runs with it.
void draw_pin(PageFrame& frame, Rect rect);

}  // namespace headroom::app::window
