// Names of the kinds of memory in a plot: in their bands, or beside them with a line that leads there.
#pragma once

#include <vector>

#include "app/paint/layout/layout.h"
#include "app/paint/layout/plot_parts.h"
#include "app/paint/scene/label_pen.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

// The thickest kinds first; a kind that finds no place, or is nowhere thick enough to be seen, has no name.
void label_kinds(LabelPen& pen, const lessons::Timeline& timeline, const std::vector<PxColumn>& columns,
                 const PlotMap& map, const ByteUnit& unit);

}  // namespace headroom::app::paint
