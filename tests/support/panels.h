// A figure's panels for tests: the first of a kind, or an empty one.
#pragma once

#include "lessons/figure.h"

namespace headroom::tests {

template <class Kind>
const Kind& panel_in(const lessons::FigureData& figure) {
  static const Kind kNone{};
  const Kind* panel = lessons::panel_of<Kind>(figure);
  return panel == nullptr ? kNone : *panel;
}

inline const lessons::Timeline& timeline_of(const lessons::FigureData& figure) {
  return panel_in<lessons::Timeline>(figure);
}
inline const std::vector<lessons::Bar>& bars_of(const lessons::FigureData& figure) {
  return panel_in<lessons::Bars>(figure).bars;
}
inline const std::vector<lessons::Rung>& rungs_of(const lessons::FigureData& figure) {
  return panel_in<lessons::Rungs>(figure).rungs;
}
inline const std::vector<lessons::Lane>& lanes_of(const lessons::FigureData& figure) {
  return panel_in<lessons::Lanes>(figure).lanes;
}
inline const lessons::Table& table_of(const lessons::FigureData& figure) { return panel_in<lessons::Table>(figure); }
inline std::vector<const lessons::Chart*> charts_of(const lessons::FigureData& figure) {
  return lessons::panels_of<lessons::Chart>(figure.panels);
}

}  // namespace headroom::tests
