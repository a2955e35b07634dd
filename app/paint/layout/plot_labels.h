// The labels of a timeline, each where it belongs or not at all.
#pragma once

#include <vector>

#include "app/paint/layout/plot_kinds.h"
#include "app/paint/layout/sheet.h"
#include "app/paint/scene/stack.h"

namespace headroom::app::paint {

// By priority: guess, failed request, limit, peak, run A's peak, lines, kinds of memory from the largest down,
// without those that are named `outside` the plot.
// Returns for each of the figure's lines whether it is named: false where its label found no place.
std::vector<bool> lay_out_labels(Sheet& sheet, const lessons::FigureHead& head, const lessons::Timeline& timeline,
                                 const PlotMap& map, const std::vector<PxColumn>& columns,
                                 const std::vector<EdgeName>& outside);

}  // namespace headroom::app::paint
