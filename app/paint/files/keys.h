// Words of files for units, lines and kinds of work, and numbers as files have them.
#pragma once

#include <string>
#include <string_view>

#include "lessons/figure.h"

namespace headroom::app::paint {

std::string_view key_of(lessons::AxisUnit unit);
std::string_view key_of(lessons::LineStyle style);
std::string_view key_of(lessons::Work work);

// With at most three decimals: positions are nanoseconds or events.
std::string number(double value);
// Where a point of a chart is: the name of its place, or the number.
std::string place_of(const lessons::Chart& chart, const lessons::ChartPoint& point);

}  // namespace headroom::app::paint
