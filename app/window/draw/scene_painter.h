// Paints a laid-out figure into a draw list.
#pragma once

#include "app/paint/layout/layout.h"
#include "imgui.h"

namespace headroom::app::window {

// `origin`: the upper left corner, on whole pixels.
void paint_scene(ImDrawList& list, const paint::Scene& scene, ImVec2 origin);

// For a figure in the current look.
paint::Frame frame_for(ImVec2 size, bool compact, const paint::Parts& parts);

}  // namespace headroom::app::window
