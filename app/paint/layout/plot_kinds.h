// Names of the kinds of memory in a plot, inside their bands or next to them with a leader line.
#pragma once

#include <string>
#include <vector>

#include "app/paint/layout/layout.h"
#include "app/paint/layout/plot_parts.h"
#include "app/paint/scene/label_pen.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

// A kind too thin for its name is named outside the plot's right end if it is visible there.
struct EdgeName {
  int kind = 0;
  std::string text;  // "Weights 15.26"
};
// Empty if the data ends before the plot or there is no room.
std::vector<EdgeName> edge_names(const Sheet& sheet, const lessons::Timeline& timeline, float height, float width);
// Their width; 0 if there are none.
float width_of(const Sheet& sheet, const std::vector<EdgeName>& names);
void lay_out_edge_names(Sheet& sheet, const std::vector<EdgeName>& names, const std::vector<PxColumn>& columns,
                        const PlotMap& map);

// Thickest kinds first. Kinds without a place, too thin to be seen or named outside get no name.
void label_kinds(LabelPen& pen, const lessons::Timeline& timeline, const std::vector<PxColumn>& columns,
                 const PlotMap& map, const ShownUnit& unit, const std::vector<EdgeName>& outside);

}  // namespace headroom::app::paint
