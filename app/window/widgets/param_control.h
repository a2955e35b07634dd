// One parameter of the page or of its figure as a control: a choice, a switch, a slider with its value, or a field.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"
#include "demos/record/schema.h"

namespace headroom::app::window {

constexpr float kLabelHeight = 20;  // px at scale 1: the label is over its control

enum class ParamsOf : unsigned char { kPage, kFigure };

void draw_label(const record::ParamSpec& spec, const Rect& rect);

// Label and control; what the reader sets goes into the page's settings, or the parameters of the figure on show. Where
// settings are fixed, the value is text.
void draw_param(PageFrame& frame, ParamsOf of, const record::ParamSpec& spec, Rect cell);

}  // namespace headroom::app::window
