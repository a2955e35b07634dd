// A figure's numbers as CSV with units in the header, or as JSON without the layout.
#pragma once

#include <string>

#include "lessons/figure.h"

namespace headroom::app::paint {

// The figure's provenance as one JSON document in ASCII, embedded in SVG, PDF and PNG.
std::string provenance_json(const lessons::FigureData& figure);

// Lines of `# key: value`, then one table per panel. Neighboring panels with the same columns share a table; others
// follow an empty line.
std::string to_csv(const lessons::FigureData& figure);
std::string to_json(const lessons::FigureData& figure);

}  // namespace headroom::app::paint
