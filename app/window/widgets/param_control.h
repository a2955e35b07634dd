// One parameter of the demo as a control: a choice, a switch, a slider with its value, or a field.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"
#include "demos/record/schema.h"

namespace headroom::app::window {

constexpr float kLabelHeight = 20;  // px at scale 1: the label is over its control

void draw_label(const record::ParamSpec& spec, const Rect& rect);

// Label and control; what the reader sets goes into the page's run. Where settings are fixed, the value is text.
void draw_param(PageFrame& frame, const record::ParamSpec& spec, Rect cell);

}  // namespace headroom::app::window
