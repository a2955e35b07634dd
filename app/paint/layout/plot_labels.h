// Places the labels of a timeline. A label without a place is dropped.
#pragma once

#include <vector>

#include "app/paint/layout/plot_kinds.h"
#include "app/paint/layout/sheet.h"
#include "app/paint/scene/stack.h"

namespace headroom::app::paint {

// By priority: guess, failed request, limit, peak, run A's peak, lines, then kinds of memory, largest first. Returns
// which lines to draw: reserved and process lines need their label.
std::vector<bool> lay_out_labels(Sheet& sheet, const lessons::FigureHead& head, const lessons::Timeline& timeline,
                                 const PlotMap& map, const std::vector<PxColumn>& columns,
                                 const std::vector<EdgeName>& outside);

}  // namespace headroom::app::paint
