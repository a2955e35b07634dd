// Ticks of axes: round values, as many as there is room for.
#pragma once

#include <string>
#include <vector>

#include "app/paint/layout/layout.h"

namespace headroom::app::paint {

struct Tick {
  double value = 0;
  std::string label;
};

// Multiples of the axis's unit from 0, whole ones where it has two or more, at most `most` of them.
std::vector<Tick> byte_ticks(const lessons::Axis& axis, int most);
// Nanoseconds in the unit that reads best, or events.
struct TimeTicks {
  std::vector<Tick> ticks;
  std::string_view unit;
};
TimeTicks time_ticks(const lessons::Axis& axis, int most);

// Of an axis of a chart in any unit, whole decades where it is logarithmic; `unit` is said once beside them.
struct ChartTicks {
  std::vector<Tick> ticks;
  std::string unit;
};
ChartTicks chart_ticks(const lessons::Axis& axis, int most);

}  // namespace headroom::app::paint
