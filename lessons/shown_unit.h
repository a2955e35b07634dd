// One unit per quantity of a figure, which suits its largest number. Axes, lists, labels and tips use it.
#pragma once

#include <string>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"

namespace headroom::lessons {

// The unit for numbers up to `largest`: "GiB" for 24 GiB, "MiB" for 700 MiB.
ShownUnit unit_for(AxisUnit quantity, double largest);
ShownUnit byte_unit(double largest);
ShownUnit time_unit(double largest);
ShownUnit rate_unit(double largest);  // for bytes per second

// The unit of the axis's ticks and of all numbers of its quantity.
ShownUnit unit_of(const Axis& axis);

// The number alone: "13.81", "1,465.88".
std::string in_unit(double value, const ShownUnit& unit, int decimals);
// Three significant digits: "0.850", "12.3", "4,270".
std::string in_unit(double value, const ShownUnit& unit);

// "0.20 GiB". An amount that would round to 0.00 is in bytes: "1,536 B".
std::string bytes_text(record::Bytes bytes, const ShownUnit& unit, int decimals = 2);
// At most two decimals, without zeros at the end: "24 GiB", "1.5 GiB". Without `unit`, in the number's own unit.
std::string short_bytes(record::Bytes bytes, const ShownUnit& unit);
std::string short_bytes(record::Bytes bytes);
// A change with its sign: "+0.20 GiB", "−0.20 GiB", "0 B".
std::string change_text(record::Bytes bytes, const ShownUnit& unit);
std::string amount_text(double value, const ShownUnit& unit);

}  // namespace headroom::lessons
