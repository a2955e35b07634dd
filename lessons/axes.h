// Ranges of axes that keep still: they start at zero, end on a round number and grow in few, large steps.
#pragma once

#include <string>
#include <string_view>

#include "lessons/figure.h"

namespace headroom::lessons {

// The next round number of a binary unit: 26.4 GiB becomes 28 GiB, 700 MiB 704 MiB.
double round_up_bytes(double bytes);

// End of a bytes axis for a run that goes on: 1, 1.5, 2, 3, 4, 6, 8, 12, … of a unit, so that it moves seldom.
double room_for_bytes(double bytes);

// End of a time axis for a run that has got to `position` and goes on: 1, 2 or 5 times a power of ten, with room to
// grow.
double room_to_grow(double position);

// An axis that ends below a value grows up to the next round number above it: bytes as round_up_bytes(), decades as
// whole ones.
void make_room(Axis& axis, double value);

}  // namespace headroom::lessons
