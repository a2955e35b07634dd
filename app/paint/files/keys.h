// Names and numbers as files write them.
#pragma once

#include <string>
#include <string_view>

#include "lessons/figure.h"

namespace headroom::app::paint {

std::string_view key_of(lessons::AxisUnit unit);
std::string_view key_of(lessons::LineStyle style);
std::string_view key_of(lessons::Work work);

// At most three decimals; positions are nanoseconds or events.
std::string number(double value);
// A point's x: its category's name, or the number.
std::string place_of(const lessons::Chart& chart, const lessons::ChartPoint& point);

}  // namespace headroom::app::paint
