// Paints a laid-out figure into a draw list.
#pragma once

#include "app/paint/scene/scene.h"
#include "imgui.h"

namespace headroom::app::window {

// `origin`: the upper left corner, on whole pixels.
void paint_scene(ImDrawList& list, const paint::Scene& scene, ImVec2 origin);

}  // namespace headroom::app::window
