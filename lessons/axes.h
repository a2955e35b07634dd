// Steady axis ranges: they start at zero, end on round numbers and grow in few, large steps.
#pragma once

#include "lessons/figure.h"

namespace headroom::lessons {

// The next round number in a binary unit: 26.4 GiB becomes 28 GiB, 700 MiB 704 MiB.
double round_up_bytes(double bytes);

// End of a bytes axis for a run in progress: 1, 1.5, 2, 3, 4, 6, 8, 12, … of a unit.
double room_for_bytes(double bytes);

// End of a time axis for a run in progress at `position`: 1, 2 or 5 times a power of ten.
double room_to_grow(double position);

// Extends an axis to the next round number above `value`: round_up_bytes(), or a whole decade.
void make_room(Axis& axis, double value);

}  // namespace headroom::lessons
