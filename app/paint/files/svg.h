// Writes a scene as SVG: paths, rectangles and real text, coordinates with two decimals.
#pragma once

#include <string>

#include "app/paint/scene/scene.h"

namespace headroom::app::paint {

// `metadata` is one JSON document for the <metadata> element. The same scene gives the same bytes.
std::string to_svg(const Scene& scene, const std::string& metadata);

}  // namespace headroom::app::paint
