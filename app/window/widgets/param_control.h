// A parameter of the page or its figure as a control: a choice, switch, field, or slider with its value. Next to them is
// the column with Run.
#pragma once

#include <string>
#include <string_view>

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"
#include "demos/record/schema.h"

namespace headroom::app::window {

constexpr float kLabelHeight = 20;  // px at scale 1, above the control

enum class ParamsOf : unsigned char { kPage, kFigure };
// Names differ even if page and figure have the same key.
std::string name_of(ParamsOf of, std::string_view key);
// True if the finder leads to this parameter: its control is shown with the focus.
bool is_sought(const PageState& state, ParamsOf of, const record::ParamSpec& spec);

constexpr float kCellHeight = 52, kCellGap = 12;  // label with control; between rows

// The column with Run, to the right of the controls below the figure; the sweep's controls take its lower half.
constexpr float run_column_width(Density density) { return density == Density::kWide ? 196 : 150; }
constexpr float run_column_gap(Density density) { return density == Density::kWide ? 28 : 16; }
// Narrow: the sweep's part of the line.
constexpr float kNarrowSweep = 128;

void draw_label(const record::ParamSpec& spec, const Rect& rect);

// Label and control, which sets the page's settings or the current figure's parameters. Fixed settings are text.
void draw_param(PageFrame& frame, ParamsOf of, const record::ParamSpec& spec, Rect cell);

// --- the column right of the settings: Run with its estimate and progress, and the pin
void draw_run(PageFrame& frame, Rect rect);
// Why nothing can run and what to do, as far as it fits; all of it in a tooltip.
void draw_no_engine(const PageFrame& frame, Rect rect, std::string_view head = "No engine. ");
// Makes the current run A, to compare later ones with.
void draw_pin(PageFrame& frame, Rect rect);

}  // namespace headroom::app::window
