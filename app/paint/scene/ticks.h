// Round axis ticks, as many as fit.
#pragma once

#include <string>
#include <vector>

#include "app/paint/layout/layout.h"

namespace headroom::app::paint {

struct Tick {
  double value = 0;
  std::string label;
};

// Multiples of the axis's unit from 0; integers if the axis spans at least two units.
std::vector<Tick> byte_ticks(const lessons::Axis& axis, int most);
// In the most readable time unit, or in events.
struct TimeTicks {
  std::vector<Tick> ticks;
  std::string_view unit;
};
TimeTicks time_ticks(const lessons::Axis& axis, int most);

// Ticks in any unit; decades on logarithmic axes. `unit` is shown once next to them.
struct ChartTicks {
  std::vector<Tick> ticks;
  std::string unit;
};
ChartTicks chart_ticks(const lessons::Axis& axis, int most);

}  // namespace headroom::app::paint
