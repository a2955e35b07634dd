// Steady axis ranges: they start at zero, end on round numbers and grow in few, large steps.
#pragma once

#include "lessons/figure.h"

namespace headroom::lessons {

// Rounds up to a round number of a binary unit: 26.4 GiB becomes 28 GiB.
double round_up_bytes(double bytes);

// End of a bytes axis for a run in progress: the first of 1, 1.5, 2, 3, 4, 6, 8, 12, … units that covers `bytes`.
double room_for_bytes(double bytes);

// End of a time axis for a run in progress at `position`: 1, 2 or 5 times a power of ten.
double room_to_grow(double position);

// Extends an axis to cover `value`: to round_up_bytes() for bytes, to a power of ten if logarithmic.
void make_room(Axis& axis, double value);

}  // namespace headroom::lessons
