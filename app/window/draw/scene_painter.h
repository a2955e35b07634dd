// Paints a laid-out figure into a draw list: item by item, deciding nothing.
#pragma once

#include "app/paint/scene/scene.h"
#include "imgui.h"

namespace headroom::app::window {

// `origin`: the scene's upper left corner, on whole pixels.
void paint_scene(ImDrawList& list, const paint::Scene& scene, ImVec2 origin);

}  // namespace headroom::app::window
