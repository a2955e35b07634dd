// Names of the kinds of memory in a plot: in their bands, or beside them with a line that leads there.
#pragma once

#include <string>
#include <vector>

#include "app/paint/layout/layout.h"
#include "app/paint/layout/plot_parts.h"
#include "app/paint/scene/label_pen.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

// A kind that is nowhere thick enough for its name, and is there at the plot's right end, is named outside, beside that end.
struct EdgeName {
  int kind = 0;
  std::string text;  // "Weights 15.26"
};
// None where the data ends before the plot, or there is no room. `height`: of the plot.
std::vector<EdgeName> edge_names(const Sheet& sheet, const lessons::Timeline& timeline, float height, float width);
// What they take of the width; 0: there are none.
float width_of(const Sheet& sheet, const std::vector<EdgeName>& names);
void lay_out_edge_names(Sheet& sheet, const std::vector<EdgeName>& names, const std::vector<PxColumn>& columns,
                        const PlotMap& map);

// The thickest kinds first; a kind that finds no place, is nowhere thick enough to be seen, or is named outside has no name.
void label_kinds(LabelPen& pen, const lessons::Timeline& timeline, const std::vector<PxColumn>& columns,
                 const PlotMap& map, const ShownUnit& unit, const std::vector<EdgeName>& outside);

}  // namespace headroom::app::paint
