// A figure's numbers: CSV with units in the header, and JSON with all that the figure says, without how it looks.
#pragma once

#include <string>

#include "lessons/figure.h"

namespace headroom::app::paint {

// Where the numbers come from, as one JSON document in ASCII: into SVG, PDF and PNG.
std::string provenance_json(const lessons::FigureData& figure);

// Lines of `# key: value`, then each panel as a table; panels whose tables have the same columns share one, others follow
// after an empty line.
std::string to_csv(const lessons::FigureData& figure);
std::string to_json(const lessons::FigureData& figure);

}  // namespace headroom::app::paint
