// Writes a scene as SVG with real text.
#pragma once

#include <string>

#include "app/paint/scene/scene.h"

namespace headroom::app::paint {

// `metadata`: one JSON document. The same scene gives the same bytes.
std::string to_svg(const Scene& scene, const std::string& metadata);

}  // namespace headroom::app::paint
