// In which unit the numbers of a figure are written: one for each quantity, that of the largest of them. Axes, lists, labels and
// tips take it from here.
#pragma once

#include <string>
#include <string_view>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"

namespace headroom::lessons {

// In which numbers up to `largest` read well: "GiB" for 24 GiB, "MiB" for 700 MiB.
ShownUnit unit_for(AxisUnit quantity, double largest);
ShownUnit byte_unit(double largest);
ShownUnit time_unit(double largest);
ShownUnit rate_unit(double largest);  // of bytes per second

// That of an axis's ticks, and so of all numbers of the figure that are of its quantity.
ShownUnit unit_of(const Axis& axis);

// The number alone: "13.81", "1,465.88".
std::string in_unit(double value, const ShownUnit& unit, int decimals);
// With three digits that count: "0.850", "12.3", "4,270".
std::string in_unit(double value, const ShownUnit& unit);

// "0.20 GiB". What is less than a hundredth of the unit is written in whole bytes: "1,536 B".
std::string bytes_text(record::Bytes bytes, const ShownUnit& unit, int decimals = 2);
// With as few decimals as say it, at most two: "24 GiB", "1.5 GiB". Without a unit: in that of the number itself.
std::string short_bytes(record::Bytes bytes, const ShownUnit& unit);
std::string short_bytes(record::Bytes bytes);
// With its sign: "+0.20 GiB", "−0.20 GiB", "0 B".
std::string change_text(record::Bytes bytes, const ShownUnit& unit);
// "12.3 µs", "4,270 GB/s"
std::string amount_text(double value, const ShownUnit& unit);

}  // namespace headroom::lessons
