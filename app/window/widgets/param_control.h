// One parameter of the page or of its figure as a control: a choice, a switch, a slider with its value, or a field.
#pragma once

#include <string>
#include <string_view>

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"
#include "demos/record/schema.h"

namespace headroom::app::window {

constexpr float kLabelHeight = 20;  // px at scale 1: the label is over its control

enum class ParamsOf : unsigned char { kPage, kFigure };
// Page and figure may have a parameter of the same key.
std::string name_of(ParamsOf of, std::string_view key);
// The list leads to this one: its control is to be in sight, with the focus.
bool is_sought(const PageState& state, ParamsOf of, const record::ParamSpec& spec);

constexpr float kCellHeight = 52, kCellGap = 12;  // of a label with its control; between two rows of them

// Of the rows below the figure: the column of Run at the right end, whose lower half a sweep has.
constexpr float run_column_width(Density density) { return density == Density::kWide ? 196 : 150; }
constexpr float run_column_gap(Density density) { return density == Density::kWide ? 28 : 16; }
// Narrow: what the sweep takes of the line.
constexpr float kNarrowSweep = 128;

void draw_label(const record::ParamSpec& spec, const Rect& rect);

// Label and control; what the reader sets goes into the page's settings, or the parameters of the figure on show. Where
// settings are fixed, the value is text.
void draw_param(PageFrame& frame, ParamsOf of, const record::ParamSpec& spec, Rect cell);

}  // namespace headroom::app::window
